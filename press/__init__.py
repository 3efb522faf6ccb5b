"""How the book is made: chapters executed and stamped, slides, the PDF, editions, Colab."""
