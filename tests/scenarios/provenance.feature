Feature: Where a memory comes from

  Who said it, how it came to be known, and how far that is trusted.

  @row-13
  Scenario: A finding of an uploaded report names the file and the page it was read from
    Given the next document carries
      | file | {"name": "report.pdf", "media_type": "application/pdf", "sha256": "3b7e0a5c9d1f2e4b6a8c0d2e4f6a8b0c1d3e5f7a9b1c3d5e7f9a0b2c4d6e8f01", "pages": [0, 46]} |
    And on 2 April 2026 at 10:00, the uploaded document "report" says
      """
      Page one of a letter about her general health.
      She has hypothyroidism and takes levothyroxine 50 mcg daily.
      """
    Then `anamnesis memory source {memory of "hypothyroidism"} --org {org} --patient {patient}` shows "3b7e0a5c9d1f2e4b6a8c0d2e4f6a8b0c1d3e5f7a9b1c3d5e7f9a0b2c4d6e8f01"
    And `anamnesis memory source {memory of "hypothyroidism"} --org {org} --patient {patient}` shows "page 2"
    And `anamnesis memory source {memory of "levothyroxine"} --org {org} --patient {patient}` shows "page 2"

  @row-19 @row-20
  Scenario: A form that is filled in for a patient is marked as a proxy's, and has full confidence
    Given the next document carries
      | provenance.is_proxy    | true     |
      | provenance.proxy_agent | daughter |
      | provenance.confidence  | 0.4      |
    And on 2 April 2026 at 10:00, the intake form "form" says
      """
      She takes donepezil 10 mg every evening. She is allergic to codeine.
      """
    And on 2 April 2026 at 11:00, the intake form "own" says
      """
      I have asthma.
      """
    Then the memory holds
      | statement | trust | confidence | source.label |
      | donepezil | T3    | 1          | proxy        |
      | codeine   | T3    | 1          | proxy        |
      | asthma    | T1    | 1          | patient, intake_form |
    And `anamnesis memory source {memory of "donepezil"} --org {org} --patient {patient}` shows "T3"

  @row-19
  Scenario: Readers say which relative spoke for the patient
    Given the next document carries
      | provenance.is_proxy    | true |
      | provenance.proxy_agent | hija |
    And on 2 April 2026 at 10:00, the intake form "ficha" says
      """
      Toma rivastigmina 6 mg dos veces al día.
      """
    Then the memory holds
      | statement    | trust | source.label |
      | rivastigmine | T3    | hija         |

  @row-19
  Scenario: What a proxy says never takes the place of what a clinician wrote
    Given on 2 April 2026 at 10:00, the clinical note "nota" says
      """
      Toma memantina 20 mg al día.
      """
    And the next document carries
      | provenance.is_proxy    | true |
      | provenance.proxy_agent | hijo |
    And on 9 April 2026 at 10:00, the chat message "mensaje" says
      """
      Toma memantina 5 mg al día.
      """
    Then the memory holds
      | statement       | state  | use      | trust |
      | memantine 20 mg | active | decision | T1    |
    And the list of contradictions shows "memantine 5 mg"
    And the review queue shows "memantine"

  @row-24 @row-27
  Scenario Outline: A document whose source is declared is kept in its stratum, with the trust of that source
    Given the next document carries
      | provenance.source_type | <type> |
    And on 2 April 2026 at 10:00, the chat message "message" says
      """
      I have psoriasis and I take cetirizine 10 mg daily.
      """
    Then the memory holds
      | statement | trust   | use   |
      | psoriasis | <trust> | <use> |
    And `anamnesis memory source {memory of "psoriasis"} --org {org} --patient {patient}` shows "<type>, <stratum>, <trust>"

    Examples:
      | type              | stratum  | trust | use        |
      | direct_experience | explicit | T1    | decision   |
      | external          | explicit | T3    | decision   |
      | observation       | observed | T3    | decision   |
      | seed              | observed | T3    | decision   |
      | inference         | inferred | T4    | hypothesis |
      | consolidation     | inferred | T4    | hypothesis |
      | unknown           | unknown  | T5    | hypothesis |

  @row-25
  Scenario: A statement says which person it comes from, and the name of that person is not stored
    Given the next document carries
      | provenance.source | told by Beatrice Langley |
    And on 2 April 2026 at 10:00, the clinical note "note" says
      """
      Drinks two glasses of wine at night. Has chronic pancreatitis.
      """
    Then the memory holds
      | statement    | trust | source.who | source.label |
      | pancreatitis | T3    | clinician  | SOURCE_      |
    And nothing anywhere holds "Langley"
    And the context shows "pancreatitis"

  @row-25
  Scenario: A statement in a session belongs to the speaker who said it
    Given on 2 April 2026 at 10:00, the session transcript "sesión" says
      """
      Patient: Tengo migraña desde los veinte años.
      Family: Él ronca y tiene apnea del sueño, se lo diagnosticaron.
      Clinician: En la exploración se aprecia un soplo; tiene usted estenosis aórtica.
      """
    Then the memory holds
      | statement | source.who | trust |
      | migraine  | patient    | T1    |
      | apnea     | family     | T3    |
      | stenosis  | clinician  | T1    |

  @row-25
  Scenario: What an assistant says in a session is no statement about the patient
    Given on 2 April 2026 at 10:00, the session transcript "session" says
      """
      Agent: Many people with lupus feel tired, and you have lupus.
      Patient: I have endometriosis.
      """
    Then the memory holds
      | statement     | source.who |
      | endometriosis | patient    |
    And the memory does not hold
      | statement | state  |
      | lupus     | active |

  @row-26
  Scenario Outline: A source in free words is read as what it is, and clinical words that look like one are not
    Given the next document carries
      | provenance.source | <words> |
    And on 2 April 2026 at 10:00, the chat message "message" says
      """
      I have psoriasis and I take cetirizine 10 mg daily.
      """
    Then `anamnesis memory source {memory of "psoriasis"} --org {org} --patient {patient}` shows "<type>, <stratum>, <trust>"

    Examples:
      | words                            | type              | stratum  | trust |
      | se lo dijo su vecina             | external          | explicit | T3    |
      | according to the school nurse    | external          | explicit | T3    |
      | me lo contó mi cuñado            | external          | explicit | T3    |
      | right upper lobe consolidation   | direct_experience | explicit | T1    |
      | poppy seed bagel                 | direct_experience | explicit | T1    |

  @row-27
  Scenario: Explicit, observed and inferred statements about one patient are distinguished
    Given on 2 April 2026 at 10:00, the chat message "mensaje" says
      """
      Tengo celiaquía. Soy un fracaso, todo me sale mal.
      """
    And on 2 April 2026 at 11:00, the device reports
      """
      {"metric": "sleep_hours", "unit": "h", "value": 4.5, "trend": "falling", "device": "ring"}
      """
    Then `anamnesis memory source {memory of "celiac"} --org {org} --patient {patient}` shows "explicit"
    And `anamnesis memory source {memory of "sleep_hours"} --org {org} --patient {patient}` shows "observed"
    And `anamnesis memory source {memory of "labeling"} --org {org} --patient {patient}` shows "inferred, T4"

  @row-36
  Scenario: A source that was not known can be named afterwards
    Given the next document carries
      | provenance.source_type | unknown |
    And on 2 April 2026 at 10:00, the clinical note "note" says
      """
      Has glaucoma.
      """
    Then the memory holds
      | statement | trust | use        |
      | glaucoma  | T5    | hypothesis |
    And `anamnesis memory orphans --org {org} --patient {patient}` shows "glaucoma"
    When the next document carries
      | revision          | 2                        |
      | provenance.source | told by her optometrist  |
    And on 3 April 2026 at 10:00, the clinical note "note" says
      """
      Has glaucoma.
      """
    Then the memory holds
      | statement | state  | trust | use      |
      | glaucoma  | active | T3    | decision |
    And `anamnesis memory orphans --org {org} --patient {patient}` does not show "glaucoma"

  @row-37
  Scenario: Every memory has the day it holds from and the day it was recorded
    Given on 2 April 2026 at 10:00, time passes
    And on 30 March 2026 at 15:20, the clinical note "tardía" says
      """
      Alérgica al níquel.
      """
    Then the memory holds
      | statement | valid_from           |
      | nickel    | 2026-03-30T15:20:00Z |
    And `anamnesis memory show {memory of "nickel"} --org {org} --patient {patient}` shows "2026-03-30T15:20:00"
    And `anamnesis memory show {memory of "nickel"} --org {org} --patient {patient}` shows "2026-04-02T10:00:00"

  @row-37
  Scenario: Another patient's memory does not hold what this patient said
    Given on 2 April 2026 at 10:00, the clinical note "note" says
      """
      Allergic to bee venom.
      """
    Then `anamnesis memory list --org {org} --patient {patient}` shows "bee venom"
    And `anamnesis memory list --org {org} --patient 0c110000-0000-4000-8000-0000000000aa` does not show "bee venom"

  @row-38
  Scenario: The assembled context names for each statement who said it, in what and when
    Given on 2 April 2026 at 10:00, the clinical note "note" says
      """
      Takes apixaban 5 mg twice a day. Known atrial fibrillation.
      """
    And on 6 April 2026 at 20:00, the chat message "message" says
      """
      I am allergic to kiwi.
      """
    Then the context shows "clinician, clinical_note, 2026-04-02"
    And the context shows "patient, chat_message, 2026-04-06"
    And `anamnesis context --org {org} --patient {patient}` shows "reported in chat"

  @row-15
  Scenario: What a producer reads in its document is shown next to what is read here
    Given the next document carries
      | metadata.sentiment  | negative |
      | metadata.risk_level | high     |
    And on 2 April 2026 at 10:00, the chat message says
      """
      Patient: I am so happy today, the walk was lovely.
      """
    Then `anamnesis context --org {org} --patient {patient}` shows "negative, risk high"
    And `anamnesis context --org {org} --patient {patient}` shows "positive"
