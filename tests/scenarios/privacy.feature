Feature: Privacy

  A patient sees the stored data and can talk without storing it. Source texts are deleted after their retention period.

  @row-77
  Scenario: A patient is shown what is held, by class, source and state
    Given on 2 March 2026, the clinical note says
      """
      Alérgica a la penicilina: urticaria. Refiere náuseas desde ayer.
      """
    And on 3 March 2026, the chat message says
      """
      Patient: Me gusta mucho nadar.
      """
    Then `anamnesis privacy --org {org} --patient {patient} --by {patient} --language es` shows "alergias, de un profesional, vigentes"
    And `anamnesis privacy --org {org} --patient {patient} --by {patient} --language es` shows "mensajes de chat"
    And `anamnesis privacy --org {org} --patient {patient} --by {patient}` shows "symptoms and states, from a clinician, in force"
    And `anamnesis privacy --org {org} --patient {patient} --by {patient} --output json` shows "time_bound_state"
    And `anamnesis privacy --org {org} --patient {patient} --by {patient} --output json` does not show "penicil"

  @row-77 @row-92
  Scenario: Of a patient who was erased, the report says that nothing is held
    Given on 2 March 2026, the clinical note says
      """
      Diagnosed with celiac disease.
      """
    When on 3 March 2026, a clinician erases the patient
    Then `anamnesis privacy --org {org} --patient {patient} --by {patient}` shows "Nothing is held any more"

  @row-79 @row-l
  Scenario: Of what is said in the ephemeral mode nothing is kept, and what was said before and after is
    Given on 2 March 2026, the chat message says
      """
      Patient: Desde ayer tengo náuseas.
      """
    When on 3 March 2026 at 10:00, the patient turns the ephemeral mode on
    And on 3 March 2026 at 11:00, the chat message says
      """
      Patient: Tengo migraña desde que discutí con mi suegra.
      """
    Then the last message was ephemeral
    When on 3 March 2026 at 12:00, the patient turns the ephemeral mode off
    And on 3 March 2026 at 13:00, the chat message says
      """
      Patient: También me noto vértigo al levantarme.
      """
    Then the last message was stored
    And the memory holds
      | statement |
      | nausea    |
      | vertigo   |
    And nothing anywhere holds "migra"
    And nothing anywhere holds "suegra"

  @row-79 @row-l
  Scenario: The mode at the time of the words counts, not that of their arrival
    Given on 3 March 2026 at 10:00, the patient turns the ephemeral mode on
    And on 3 March 2026 at 12:00, the patient turns the ephemeral mode off
    When on 4 March 2026, time passes
    And on 3 March 2026 at 11:00, the session transcript says
      """
      Patient: I had a panic attack in the supermarket.
      """
    Then the last message was ephemeral
    And nothing anywhere holds "supermarket"
    When on 3 March 2026 at 13:00, the session transcript says
      """
      Patient: I have had a headache in the afternoon since Sunday.
      """
    Then the last message was stored
    And the memory holds
      | statement |
      | headache  |

  @row-79 @row-l @row-104
  Scenario: Danger in the ephemeral mode still raises an alert, and none of its words is stored
    Given on 3 March 2026 at 10:00, the patient turns the ephemeral mode on
    When on 3 March 2026 at 11:00, the chat message says
      """
      Patient: I am going to kill myself tonight, I have the pills here.
      """
    Then the last message was ephemeral
    And `anamnesis events list --type risk.flagged.v1` shows "risk.flagged.v1"
    And nothing anywhere holds "pills"
    And the memory does not hold
      | kind |
      | raw  |

  @row-87
  Scenario: Of a patient with the tier "summary only", the text goes after thirty days and what was understood stays
    Given on 2 March 2026, the profile says
      """
      {"privacy_tier": "summary_only"}
      """
    And on 2 March 2026 at 10:00, the chat message says
      """
      Patient: Me han diagnosticado celiaquía en la clínica del pueblo de mi abuelo.
      """
    Then a search for "celiaquía abuelo" finds "abuelo"
    When on 31 March 2026, the job "retention" runs
    Then a search for "celiaquía abuelo" finds "abuelo"
    When on 5 April 2026, the job "retention" runs
    Then nothing anywhere holds "abuelo"
    And the memory holds
      | statement | state  |
      | celiac    | active |

  @row-87
  Scenario: Of a patient with the tier "drop source", the next retention run removes the text, and the quotes of its facts stay
    Given on 2 March 2026, the profile says
      """
      {"privacy_tier": "drop_source"}
      """
    And on 2 March 2026 at 10:00, the clinical note says
      """
      Diagnosed with celiac disease.
      The waiting room was painted in turquoise by a volunteer.
      """
    When on 5 March 2026, the job "retention" runs
    Then nothing anywhere holds "turquoise"
    And the memory holds
      | statement | state  | fragment                      |
      | celiac    | active | Diagnosed with celiac disease |

  @row-87 @row-108
  Scenario: In the cold archive a chat leaves every search before a note does
    Given on 2 March 2026, the profile says
      """
      {"privacy_tier": "cold_archive"}
      """
    And on 2 March 2026 at 10:00, the chat message says
      """
      Patient: Mi gato Bigotes rompió el jarrón azul.
      """
    And on 2 March 2026 at 11:00, the clinical note says
      """
      Describe un sueño recurrente con un jarrón verde.
      """
    When on 10 June 2026, the job "retention" runs
    Then a search for "jarrón" does not find "jarrón azul"
    And a search for "jarrón" finds "jarrón verde"
    And `anamnesis archive list --org {org} --patient {patient}` shows "chat_message"
    And `anamnesis archive list --org {org} --patient {patient}` does not show "clinical_note"

  @row-87
  Scenario: The patient's own tier comes before that of the organisation
    Given on 2 March 2026, the profile says
      """
      {"privacy_tier": "standard"}
      """
    And on 2 March 2026 at 10:00, the chat message says
      """
      Patient: My neighbour plays the trombone in the attic.
      """
    And `anamnesis org set --privacy-tier summary_only --org {org}` succeeds
    When on 5 April 2026, the job "retention" runs
    Then a search for "trombone" finds "attic"

  @row-87
  Scenario: The organisation's tier holds where the patient said nothing
    Given on 2 March 2026 at 10:00, the chat message says
      """
      Patient: My neighbour plays the trombone in the attic and I have had a headache since Sunday.
      """
    And `anamnesis org set --privacy-tier summary_only --org {org}` succeeds
    When on 5 April 2026, the job "retention" runs
    Then nothing anywhere holds "trombone"
    And the memory holds
      | statement |
      | headache  |

  @row-108
  Scenario: A legal hold keeps what retention would take
    Given on 2 March 2026, the profile says
      """
      {"privacy_tier": "summary_only"}
      """
    And on 2 March 2026 at 10:00, the chat message says
      """
      Patient: El conductor del autobús iba borracho cuando me caí en la rotonda.
      """
    And `anamnesis hold set --org {org} --patient {patient} --by {actor} --reference "expediente 7"` succeeds
    When on 5 April 2026, the job "retention" runs
    Then a search for "rotonda" finds "autobús"
    And `anamnesis hold list --org {org} --patient {patient}` shows "expediente 7"

  @row-83 @row-104
  Scenario: Lists for operators name events and refused messages by ids and codes, never by words
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Diagnosticada de endometriosis.
      """
    And the next document carries
      | occurred_at | 2026-03-09T10:00:00Z |
    And the clinical note says
      """
      Refiere cefalea en racimos.
      """
    Then the last message was set aside as "not_yet"
    And `anamnesis quarantine list` shows "not_yet"
    And `anamnesis quarantine list --output json` does not show "cefalea"
    And `anamnesis events list` shows "memory.changed.v1"
    And `anamnesis events list --output json` does not show "endometriosis"
    And `anamnesis job history` does not show "endometriosis"

  @row-77
  Scenario: A report that is asked for by a message is answered and kept for its reader
    Given on 2 March 2026, the clinical note says
      """
      Alérgica a la penicilina: urticaria.
      """
    When on 3 March 2026, the command is sent
      """
      {"command": "privacy_report"}
      """
    Then the last message was stored
    And `anamnesis answer list --org {org} --patient {patient}` shows "privacy_report"
    And `anamnesis events list --state all --type rights.answered.v1` shows "rights.answered"
