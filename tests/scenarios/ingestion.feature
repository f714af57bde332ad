Feature: Documents come in

  Each kind of document becomes memory once, without personal data, and can be found as soon as it is stored.

  @row-1
  Scenario: A session can be searched as soon as its transcript has come in
    Given on 3 March 2026 at 17:00, the session transcript "sesión" says
      """
      Patient: Desde que cambié de turno me despierto a las cuatro con taquicardia.
      Clinician: ¿Toma algo para dormir?
      Patient: Melatonina 2 mg por la noche, me la recomendó la farmacéutica.
      """
    Then the last message was stored
    And the memory holds
      | entity     | statement   | state  | source.who | source.document_type |
      | medication | melatonin   | active | patient    | session_transcript   |
    And a search for "¿qué pasa cuando se despierta de madrugada?" finds "despierto a las cuatro"

  @row-2
  Scenario: What a model made of a session can be found, and is no basis for a decision
    Given on 3 March 2026 at 17:00, the clinical note "note" says
      """
      Sleeps poorly since the night shifts began. No medication.
      """
    And on 3 March 2026 at 18:00, the analysis "analysis" says
      """
      The patient may have obstructive sleep apnea. She has hypothyroidism.
      """
    Then the last message was stored
    And a search for "sleep apnea" finds "may have obstructive sleep apnea"
    And the memory holds
      | statement      | state  | use        | trust |
      | hypothyroidism | active | hypothesis | T4    |
    And the memory does not hold
      | statement      | use      |
      | hypothyroidism | decision |
      | sleep apnea    | decision |

  @row-3
  Scenario: A completed intake form fills the profile
    Given on 5 January 2026 at 12:15, the intake form "ingreso" says
      """
      Enfermedades: hipotiroidismo, celiaquía.
      Medicación actual: levotiroxina 75 mcg al día.
      Alergias: metamizol (urticaria).
      """
    Then the profile shows "metamizol"
    And the profile shows "levothyroxine 75 mcg"
    And the profile shows "hypothyroidism"
    And the profile shows "celiac"
    And a search for "levotiroxina" finds "levotiroxina 75 mcg al día"

  @row-4
  Scenario: A chat message can be searched in the second in which it was sent
    Given on 5 January 2026 at 12:15, the chat message "message" says
      """
      The rash on my elbows came back after the weekend at the lake.
      """
    Then a search for "rash on the elbows" finds "after the weekend at the lake"
    And a search for "rash on the elbows" does not find "penicillin"

  @row-5
  Scenario: A clinical note can be searched as soon as it is saved
    Given on 9 February 2026 at 08:40, the clinical note "evolución" says
      """
      Acude por vértigo de tres días de evolución, sin pérdida de audición. Se pauta betahistina 16 mg cada 8 horas.
      """
    Then a search for "vértigo" finds "sin pérdida de audición"
    And the memory holds
      | entity     | statement         | use      | source.who |
      | medication | betahistine 16 mg | decision | clinician  |

  @row-7
  Scenario: Names, telephone numbers and identity numbers are gone before anything is kept, and what is clinical stays
    Given the next document carries
      | known_identities | [{"role": "patient", "names": ["Julián Ferrer Oliva"], "phones": ["655 010 431"]}] |
    And on 9 February 2026 at 08:40, the clinical note "nota" says
      """
      Julián Ferrer Oliva, DNI 50317284T, teléfono 655 010 431, correo julian.ferrer@example.com.
      Padece gota desde hace años y toma alopurinol 100 mg al día.
      """
    Then nothing anywhere holds "Ferrer"
    And nothing anywhere holds "50317284T"
    And nothing anywhere holds "655 010 431"
    And nothing anywhere holds "julian.ferrer"
    And the memory holds
      | entity     | statement   | use      |
      | condition  | gout        | decision |
      | medication | allopurinol | decision |
    And the export shows "toma alopurinol 100 mg"

  @row-7 @row-107
  Scenario: A social security number and an address in an English letter are gone, and its diagnosis stays
    Given on 9 February 2026 at 08:40, the uploaded document "letter" says
      """
      RE: Margaret Doyle, SSN 987-65-4321, 18 Harbor Street, Portland, OR 97214, phone (503) 555-0142.
      She has rheumatoid arthritis and takes methotrexate 15 mg weekly.
      """
    Then nothing anywhere holds "Doyle"
    And nothing anywhere holds "987-65-4321"
    And nothing anywhere holds "Harbor Street"
    And nothing anywhere holds "555-0142"
    And the profile shows "rheumatoid arthritis"
    And the profile shows "methotrexate 15 mg"

  @row-8
  Scenario: A message in which nothing clinical is said is kept as it was captured, and can be found
    Given on 12 February 2026 at 21:00, the chat message "message" says
      """
      The ferry was late again and I read half of my novel on the pier.
      """
    Then the memory holds
      | kind | class | statement            | state  | source.document_type |
      | raw  | event | Document as captured | active | chat_message         |
    And a search for "ferry late" finds "half of my novel on the pier"

  @row-8
  Scenario: What is read from a document leads back to the capture it was read from
    Given on 12 February 2026 at 09:30, the clinical note "nota" says
      """
      Diabetes mellitus tipo 2 diagnosticada en 2014. Toma metformina 850 mg dos veces al día.
      """
    Then the memory holds
      | kind | statement            |
      | raw  | Document as captured |
      | note | diabetes             |
    And the source of "diabetes" shows "Document as captured"
    And the source of "metformin" shows "clinical_note, 2026-02-12"

  @row-15
  Scenario: A passage says of which kind of document and of which day it is, and its document which themes and which risk
    Given the next document carries
      | therapist_id | 7d0e9f4c-3b1a-4a76-9c53-0e3a5f1b2c88 |
      | metadata     | {"themes": ["work"], "sentiment": "negative", "risk_level": "low"} |
    And on 16 February 2026 at 16:00, the session transcript "session" says
      """
      Patient: My manager shouts at me in front of everyone and I cry in the car.
      Clinician: How often does that happen?
      Patient: Every week.
      """
    Then a search for "shouting manager" finds "session_transcript"
    And a search for "shouting manager" finds "2026-02-16"
    And the context shows "work"
    And `anamnesis context --org {org} --patient {patient} --query "shouting manager"` shows "negative"
    And `anamnesis context --org {org} --patient {patient} --query "shouting manager"` shows "low"

  @row-17
  Scenario: A corrected version of a note takes the place of the first
    Given on 20 February 2026 at 11:00, the clinical note "note" says
      """
      Takes amlodipine 5 mg daily. Known asthma.
      """
    When on 20 February 2026 at 11:30, revision 2 of "note" says
      """
      Takes amlodipine 10 mg daily. Known asthma.
      """
    Then the last message was stored
    And the memory holds
      | statement        | state  | use      |
      | amlodipine 10 mg | active | decision |
      | asthma           | active | decision |
    And the memory does not hold
      | statement       | use      |
      | amlodipine 5 mg | decision |
    And the profile does not show "amlodipine 5 mg"
    And a search for "amlodipine" finds "10 mg daily"
    And a search for "amlodipine" does not find "5 mg daily"

  @row-17
  Scenario: What a corrected note no longer says waits for review
    Given on 20 February 2026 at 11:00, the clinical note "nota" says
      """
      Toma digoxina 0,25 mg al día. Padece insuficiencia cardiaca.
      """
    When on 20 February 2026 at 11:30, revision 2 of "nota" says
      """
      Padece insuficiencia cardiaca.
      """
    Then the memory holds
      | statement     | state  | use        |
      | heart failure | active | decision   |
      | digoxin       | active | hypothesis |
    And the review queue shows "digoxin"
    And the review queue does not show "heart failure"

  @row-17
  Scenario: An older version of a note that arrives late changes nothing
    Given the next document carries
      | revision | 2 |
    And on 20 February 2026 at 11:00, the clinical note "nota" says
      """
      Toma bisoprolol 5 mg al día.
      """
    When the next document carries
      | revision | 1 |
    And on 21 February 2026 at 11:00, the clinical note "nota" says
      """
      Toma bisoprolol 2,5 mg al día.
      """
    Then the memory holds
      | statement       | state  | use      |
      | bisoprolol 5 mg | active | decision |
    And the memory does not hold
      | statement         | use      |
      | bisoprolol 2.5 mg | decision |
    And the profile shows "bisoprolol 5 mg"
    And the profile does not show "bisoprolol 2.5 mg"

  @row-17 @row-23
  Scenario: A note that is sent again is recognised, and repeats nothing
    Given on 20 February 2026 at 11:00, the clinical note "nota" says
      """
      Intolerancia a la lactosa. Toma omeprazol 20 mg en ayunas.
      """
    When on 22 February 2026 at 11:00, time passes
    And on 20 February 2026 at 11:00, the clinical note "nota" says
      """
      Intolerancia a la lactosa. Toma omeprazol 20 mg en ayunas.
      """
    Then the last message was duplicate
    And `anamnesis memory source {memory of "omeprazole"} --org {org} --patient {patient}` shows "reinforced, verified   0, 0"
    And the history of "omeprazole" shows "created"
    And the history of "omeprazole" does not show "2026-02-22"

  @row-17
  Scenario: Other words under the name and version of a note that is stored are set aside
    Given on 20 February 2026 at 11:00, the clinical note "note" says
      """
      Takes digoxin 0.125 mg daily.
      """
    When on 20 February 2026 at 11:00, the clinical note "note" says
      """
      Takes digoxin 0.25 mg daily.
      """
    Then the last message was set aside as "id_reused"
    And the memory holds
      | statement        | state  | use      |
      | digoxin 0.125 mg | active | decision |
    And the memory does not hold
      | statement       |
      | digoxin 0.25 mg |

  @row-23
  Scenario: The same words in a second document are the same evidence and do not make the statement surer
    Given on 20 February 2026 at 11:00, the chat message "first" says
      """
      I prefer to be called in the evening.
      """
    And on 23 February 2026 at 11:00, the chat message "second" says
      """
      I prefer to be called in the evening.
      """
    Then the memory holds
      | statement             | state  |
      | called in the evening | active |
    And the history of "called in the evening" does not show "reinforced"
