@every-run
Feature: Forgetting and erasing

  Forgetting can be undone for thirty days; erasure cannot.

  @row-76
  Scenario: What a patient has forgotten is not found until the patient recovers it
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Refiere acúfenos desde hace un mes.
      """
    And on 2 March 2026 at 11:00, the chat message says
      """
      Patient: Por las tardes paseo por el puerto con mi perro.
      """
    When on 3 March 2026, the patient forgets "tinnitus"
    Then the memory does not hold
      | statement |
      | tinnitus  |
    And a search for "acúfenos" does not find "acúfenos"
    And the export does not show "acúfenos"
    And a search for "puerto perro" finds "puerto"
    When on 1 April 2026, the patient recovers "tinnitus"
    Then the memory holds
      | statement |
      | tinnitus  |
    And a search for "acúfenos" finds "acúfenos"

  # why: a passage that holds something forgotten is not searched, since its other sentences may name the same thing again.
  @row-76 @not-yet
  Scenario: The rest of a note that held something forgotten is still found
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      Reports tinnitus since January.
      She walks along the harbour every evening with her dog and her neighbours.
      Her brother repairs clocks in a small shop.
      """
    Then a search for "harbour dog neighbours" finds "harbour"
    When on 3 March 2026, the patient forgets "tinnitus"
    Then the export shows "harbour"
    And the export does not show "tinnitus"
    And a search for "harbour dog neighbours" finds "harbour"
    And a search for "tinnitus" does not find "tinnitus"

  @row-76
  Scenario: Thirty days after it was forgotten, the words are gone and cannot be taken back
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      He was treated for gonorrhea last year. Known asthma.
      """
    When on 3 March 2026, the patient forgets "gonorrhea"
    And on 5 April 2026, the job "purge" runs
    Then nothing anywhere holds "gonorr"
    And `anamnesis memory list --state inactive --org {org} --patient {patient} --output json` does not show "gonorr"
    And the memory holds
      | statement |
      | asthma    |

  @row-78
  Scenario: A topic is forgotten by its name, in whatever words it was stated
    Given on 2 March 2026, the session transcript says
      """
      Clinician: ¿Cómo ha dormido?
      Patient: Sigo con insomnio, me despierto a las cuatro.
      Patient: Tengo náuseas por la mañana.
      """
    And on 4 March 2026, the clinical note says
      """
      Persiste el insomnio de conciliación.
      """
    When on 5 March 2026, the patient forgets everything about "insomnio"
    Then the last message was stored
    And nothing anywhere holds "insomn"
    And the memory holds
      | statement |
      | nausea    |

  @row-78
  Scenario: Before a topic is forgotten, a preview shows what is meant and changes nothing
    Given on 2 March 2026, the clinical note says
      """
      Reports migraine since Monday. Allergic to penicillin: rash.
      """
    Then `anamnesis memory forget --topic migraine --preview --by {actor} --role patient --org {org} --patient {patient}` shows "migraine"
    And `anamnesis memory forget --topic migraine --preview --by {actor} --role patient --org {org} --patient {patient}` does not show "penicillin"
    And the memory holds
      | statement  |
      | migraine   |
      | penicillin |

  @row-76
  Scenario: What was forgotten can be learned again from a new document
    Given on 2 March 2026, the clinical note says
      """
      Padece migraña con aura.
      """
    When on 3 March 2026, the patient forgets "migraine"
    And on 10 March 2026, the clinical note says
      """
      La paciente padece migraña con aura, hoy con vómitos.
      """
    Then the memory holds
      | statement | state  |
      | migraine  | active |

  @row-95
  Scenario: A clinician gives a memory its end, and it is history from then on
    Given on 2 March 2026, the clinical note says
      """
      Takes prednisone 20 mg daily. Known asthma.
      """
    When on 9 March 2026, a clinician ends "prednisone"
    Then the memory holds
      | statement  | state    | use      |
      | prednisone | resolved | history  |
      | asthma     | active   | decision |
    And the history of "prednisone" shows "resolved"

  @row-95
  Scenario: What a producer sends with an end is in force before it and not after it
    Given the next document carries
      | provenance.expires_at | 2026-03-10T00:00:00Z |
    And on 2 March 2026, the clinical note says
      """
      Toma amoxicilina 500 mg cada 8 horas.
      """
    And on 2 March 2026 at 12:00, the clinical note says
      """
      Toma enalapril 10 mg al día.
      """
    Then the memory holds
      | statement   | state  | use      |
      | amoxicillin | active | decision |
    When on 12 March 2026, time passes
    Then the memory does not hold
      | statement   | use      |
      | amoxicillin | decision |
    And the memory holds
      | statement | state  | use      |
      | enalapril | active | decision |

  @row-95 @row-107
  Scenario Outline: A medicine that is prescribed until a day is taken before it and history after it
    Given on 2 March 2026 at 10:00, the clinical note says
      """
      <text>
      """
    Then the memory holds
      | entity     | statement | state  | use      |
      | medication | <name>    | active | decision |
    When on 12 March 2026, time passes
    Then the memory does not hold
      | entity     | statement | use      |
      | medication | <name>    | decision |

    Examples:
      | text                                                            | name        |
      | Toma amoxicilina 500 mg cada 8 horas hasta el 9 de marzo.       | amoxicillin |
      | She is to take doxycycline 100 mg twice daily until 9 March 2026. | doxycycline |

  @row-92 @row-93 @row-e
  Scenario: A patient who is erased is held nowhere, and a receipt counts what went
    Given on 2 March 2026, the clinical note says
      """
      Diagnosticada de endometriosis. Refiere vértigo desde ayer.
      """
    When on 4 March 2026, a clinician erases the patient
    Then the last message was stored
    And nothing anywhere holds "endometriosis"
    And nothing anywhere holds "vértigo"
    And `anamnesis events list --state all --type erasure.completed.v1` shows "erasure.completed"

  @row-92
  Scenario: A message that comes late about an erased patient is refused
    Given on 2 March 2026, the clinical note says
      """
      Known asthma since childhood.
      """
    When on 4 March 2026, a clinician erases the patient
    And on 3 March 2026, the clinical note says
      """
      Reports wheezing at night.
      """
    Then the last message was set aside as "erased_subject"
    And nothing anywhere holds "wheez"

  @row-92 @row-93
  Scenario: A document that is erased takes what it alone said along, and what others said stays
    Given on 2 March 2026, the clinical note "gut" says
      """
      Diagnosed with celiac disease. The sister plays the bagpipes.
      """
    And on 3 March 2026, the clinical note "head" says
      """
      Diagnosed with migraine.
      """
    When on 4 March 2026, `anamnesis erase --org {org} --patient {patient} --document {document of "gut"} --by {actor}` succeeds
    Then nothing anywhere holds "bagpipes"
    And nothing anywhere holds "celiac"
    And the memory holds
      | statement |
      | migraine  |
    And `anamnesis erase --org {org} --patient {patient} --receipts` shows "document"

  @row-92
  Scenario: Words of a memory that is erased leave the note, and the rest of the note is still found
    Given on 2 March 2026, the clinical note says
      """
      Alérgica a la penicilina. Diagnosticada de endometriosis en la clínica. Duerme bien en su hamaca.
      """
    When on 4 March 2026, `anamnesis erase --org {org} --patient {patient} --memory {memory of "endometriosis"} --by {actor}` succeeds
    Then nothing anywhere holds "endometriosis"
    And a search for "hamaca" finds "hamaca"
    And the memory holds
      | statement  |
      | penicillin |

  @row-92 @row-108 @row-e
  Scenario: A legal hold blocks an erasure and says so, and the erasure goes on when it is lifted
    Given on 2 March 2026, the clinical note says
      """
      Diagnosed with celiac disease.
      """
    And `anamnesis hold set --org {org} --patient {patient} --by {actor}` succeeds
    When on 4 March 2026, a clinician erases the patient
    Then the last message was set aside as "legal_hold"
    And `anamnesis erase --org {org} --patient {patient} --by {actor}` fails with "legal_hold"
    And the memory holds
      | statement |
      | celiac    |

  @row-76
  Scenario: What was forgotten is not found by another sentence that names it, nor by the question that asked for it
    Given on 2 March 2026 at 10:00, the session transcript says
      """
      Clinician: How are you after the diagnosis of epilepsy?
      Patient: I was diagnosed with epilepsy last year. The epilepsy clinic is kind to me.
      """
    When on 3 March 2026, the patient forgets "epilepsy"
    Then a search for "epilepsy" does not find "epilepsy"
    And a search for "seizures" does not find "epilepsy"
