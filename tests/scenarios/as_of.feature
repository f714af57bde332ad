Feature: As of an earlier instant

  Two questions have answers for an earlier instant: what was true then, and what was known then.

  @row-91
  Scenario: The dose of an earlier day is shown as of that day
    Given on 2 March 2026, the clinical note says
      """
      Inicia sertralina 50 mg al día.
      """
    And on 16 March 2026, the clinical note says
      """
      Se sube sertralina a 100 mg al día.
      """
    When on 20 March 2026, time passes
    Then `anamnesis profile --as-of 2026-03-10 --org {org} --patient {patient}` shows "sertraline 50 mg"
    And `anamnesis profile --as-of 2026-03-10 --org {org} --patient {patient}` does not show "sertraline 100 mg"
    And `anamnesis profile --as-of 2026-03-17 --org {org} --patient {patient}` shows "sertraline 100 mg"

  # why: as of an instant before it arrived, the note is shown: its own date counts, not that of its arrival
  @row-91 @not-yet
  Scenario: A note that arrives late was not known before it arrived
    Given on 2 March 2026, the clinical note says
      """
      Known asthma.
      """
    When on 20 March 2026, time passes
    And on 5 March 2026, the clinical note says
      """
      Diagnosed with psoriasis.
      """
    Then `anamnesis memory list --as-of 2026-03-10 --org {org} --patient {patient}` shows "asthma"
    And `anamnesis memory list --as-of 2026-03-10 --org {org} --patient {patient}` does not show "psoriasis"
    And the memory holds
      | statement | valid_from           |
      | psoriasis | 2026-03-05T09:00:00Z |

  @row-91
  Scenario: A symptom that became history was in force before, and is shown so
    Given on 2 March 2026 at 10:00, the chat message says
      """
      Patient: Tengo náuseas desde ayer.
      """
    When on 20 March 2026, the job "expiry" runs
    Then the memory holds
      | statement | state                |
      | nausea    | resolved_unconfirmed |
    And `anamnesis memory list --state active --as-of 2026-03-03 --org {org} --patient {patient}` shows "nausea"
    And `anamnesis memory list --state active --as-of 2026-03-12 --org {org} --patient {patient}` does not show "nausea"

  @row-91 @row-76
  Scenario: What was forgotten is not shown as of an earlier day either
    Given on 2 March 2026, the clinical note says
      """
      Treated for gonorrhea last year. Known asthma.
      """
    When on 5 March 2026, the patient forgets "gonorrhea"
    Then `anamnesis memory list --as-of 2026-03-03 --org {org} --patient {patient}` does not show "gonorrhea"
    And `anamnesis memory list --as-of 2026-03-03 --org {org} --patient {patient}` shows "asthma"
    And `anamnesis context --query gonorrhea --as-of 2026-03-03 --org {org} --patient {patient}` does not show "gonorr"
