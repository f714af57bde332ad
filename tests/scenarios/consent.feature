@every-run
Feature: Consent

  Data that a patient does not permit, or no longer permits, is not stored. The audit trail records what people do.

  @row-84
  Scenario: After a patient withdraws consent, documents are refused and readers are shut
    Given on 1 March 2026, consent is recorded
      """
      {"scope": "memory", "provision": "permit"}
      """
    And on 2 March 2026, the clinical note says
      """
      Padece asma desde la infancia.
      """
    Then the last message was stored
    And the memory holds
      | statement |
      | asthma    |
    When on 5 March 2026, consent is recorded
      """
      {"scope": "memory", "provision": "deny"}
      """
    And on 6 March 2026, the clinical note says
      """
      Refiere cefalea desde el domingo.
      """
    Then the last message was set aside as "no_consent"
    And nothing anywhere holds "cefalea"
    And `anamnesis profile --org {org} --patient {patient}` fails with "consent"
    And the memory holds
      | statement |
      | asthma    |

  @row-84
  Scenario: Where a clinic requires consent, one that was given until a day ends on that day
    Given on 1 March 2026, consent is recorded
      """
      {"scope": "memory", "provision": "permit", "until": "2026-03-10T00:00:00Z"}
      """
    And `anamnesis org set --consent-required true --org {org}` succeeds
    And on 9 March 2026 at 10:00, the clinical note says
      """
      Reports dizziness since yesterday.
      """
    Then the last message was stored
    When on 10 March 2026 at 10:00, the clinical note says
      """
      Reports a sore throat since yesterday.
      """
    Then the last message was set aside as "no_consent"
    And nothing anywhere holds "throat"
    And the memory holds
      | statement |
      | dizz      |

  @row-84
  Scenario: Where a clinic requires consent, nothing is taken in without it
    Given on 1 March 2026, consent is recorded
      """
      {"scope": "photographs", "provision": "permit"}
      """
    And `anamnesis org set --consent-required true --org {org}` succeeds
    And on 2 March 2026, the intake form says
      """
      Conditions: endometriosis.
      """
    Then the last message was set aside as "no_consent"
    When on 3 March 2026, consent is recorded
      """
      {"scope": "memory", "provision": "permit"}
      """
    And on 4 March 2026, the intake form says
      """
      Conditions: psoriasis.
      """
    Then the last message was stored
    And the memory holds
      | statement |
      | psoriasis |
    And nothing anywhere holds "endometriosis"

  @row-84
  Scenario: A patient who denies recall is kept in the record and shown in no profile
    Given on 2 March 2026, the clinical note says
      """
      Padece psoriasis desde joven.
      """
    And on 3 March 2026, consent is recorded
      """
      {"scope": "recall", "provision": "deny"}
      """
    Then `anamnesis profile --org {org} --patient {patient}` fails with "consent"
    And `anamnesis context --query psoriasis --org {org} --patient {patient}` fails with "consent"
    And the export shows "psoriasis"
    When on 4 March 2026, consent is recorded
      """
      {"scope": "recall", "provision": "permit"}
      """
    Then the profile shows "psoriasis"

  @row-84
  Scenario: A patient who consents again is remembered again from then on
    Given on 1 March 2026, consent is recorded
      """
      {"scope": "memory", "provision": "deny"}
      """
    And on 2 March 2026, the chat message says
      """
      Patient: Llevo dos días con náuseas.
      """
    Then the last message was set aside as "no_consent"
    When on 4 March 2026, consent is recorded
      """
      {"scope": "memory", "provision": "permit"}
      """
    And on 5 March 2026, the chat message says
      """
      Patient: Ahora tengo tos seca.
      """
    Then the last message was stored
    And the memory holds
      | statement |
      | cough     |
    And the memory does not hold
      | statement |
      | nausea    |

  @row-84
  Scenario: What was said before a withdrawal and arrives after it is refused
    Given on 1 March 2026, consent is recorded
      """
      {"scope": "memory", "provision": "permit"}
      """
    And on 2 March 2026, the clinical note says
      """
      Known hypothyroidism.
      """
    And on 5 March 2026, consent is recorded
      """
      {"scope": "memory", "provision": "deny"}
      """
    When on 4 March 2026, the clinical note says
      """
      Complains of palpitations.
      """
    Then the last message was set aside as "no_consent"
    And nothing anywhere holds "palpitations"

  @row-84
  Scenario: Who verified, ended and forgot a memory is on record
    Given on 2 March 2026, the clinical note says
      """
      Reports palpitations. Takes ramipril 5 mg daily.
      """
    When on 3 March 2026, a clinician verifies "ramipril"
    And on 4 March 2026, a clinician ends "palpitations"
    Then the history of "ramipril" shows "verified"
    And the history of "ramipril" shows "clinician"
    And the history of "palpitations" shows "clinician"
