Feature: States of time

  The patient is asked about a symptom that nobody confirms, and the symptom later becomes historical.

  @row-52 @row-55
  Scenario: A symptom without confirmation for a week becomes history
    Given on 2 March 2026 at 10:00, the clinical note "nota" says
      """
      Refiere tristeza desde hace tres días. Alérgica a la penicilina: urticaria.
      """
    Then the memory holds
      | entity  | statement  | state  |
      | symptom | sadness    | active |
      | allergy | penicillin | active |
    When on 10 March 2026, the job "expiry" runs
    Then the memory holds
      | entity  | statement  | state                | use      |
      | symptom | sadness    | resolved_unconfirmed | history  |
      | allergy | penicillin | active               | decision |
    And the profile shows "penicillin"
    And nothing anywhere holds "xyzzy"
