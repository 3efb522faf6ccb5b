"""What a page asks of its reader."""

# The pages that are written to the measure of the house; the others follow.
CORE = ("ten_minutes", "01_parallel_text", "02_fixed_length", "03_learning_to_align")
BESIDE = ("evidence_1", "evidence_2", "evidence_3")
MEASURED = (*CORE, *BESIDE)
