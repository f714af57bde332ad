-- What a patient asks for by a message is answered with a text as well where it is carried out at once: what was forgotten or
-- taken back, whether anything is kept from now on, what is permitted. Which kinds there are is the program's to know.
ALTER TABLE rights_answer DROP CONSTRAINT rights_answer_kind_check;
