@every-run
Feature: Allergies that only a clinician, a profile or an answer ends

  Only a clinician, a profile or an answered task ends an allergy. Other statements lead to a question for review.

  @row-45 @row-65
  Scenario: A yes to an earlier denial does not end the allergy that a letter reports
    Given on 1 March 2026, the chat message says
      """
      No soy alérgica a la penicilina.
      """
    And on 5 March 2026, the uploaded document "carta" says
      """
      Alergia a la penicilina: anafilaxia en 2019.
      """
    Then the memory holds
      | entity  | statement  | negated | state  |
      | allergy | penicillin | false   | active |
    When on 6 March 2026, the patient confirms "Denied — Allergy: penicillin"
    Then the memory holds
      | entity  | statement  | negated | state  |
      | allergy | penicillin | false   | active |
    And the review queue shows "penicillin"

  @row-45
  Scenario: A patient who once wrote that there was no allergy is heard when they report one
    Given on 1 March 2026, the chat message says
      """
      I am not allergic to latex.
      """
    When on 20 March 2026, the intake form says
      """
      Allergic to latex: hives and swelling of the lips.
      """
    Then the memory holds
      | entity  | statement | negated | state  | contested |
      | allergy | latex     | false   | active | false     |
    And the profile shows "latex"

  @row-95
  Scenario: A date that a producer sets ends what a note says, and no allergy
    Given the next document carries
      | provenance.expires_at | 2026-04-01T00:00:00Z |
    And on 1 March 2026, the clinical note "nota" says
      """
      Alérgico al látex: urticaria. Prefiere que le llamen por la tarde.
      """
    When on 10 April 2026, the job "expiry" runs
    Then the memory holds
      | entity  | statement | state  | use      |
      | allergy | latex     | active | decision |
    And the memory does not hold
      | entity     | state  |
      | preference | active |

  @row-84 @row-76
  Scenario: A withdrawal that forgets leaves no allergy behind
    Given on 1 March 2026, the clinical note "nota" says
      """
      Alérgico al látex: urticaria. Toma sertralina 50 mg al día.
      """
    When on 2 March 2026, `anamnesis org set --org {org} --withdrawal forget` succeeds
    And on 3 March 2026, consent is recorded
      """
      {"scope": "memory", "provision": "deny"}
      """
    Then the memory does not hold
      | entity     | statement  |
      | allergy    | latex      |
      | medication | sertraline |
