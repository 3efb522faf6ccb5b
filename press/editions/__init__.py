"""What is made of the book beside its site: slides, a PDF, the student edition and its grading."""
