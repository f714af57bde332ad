Feature: Lineage

  A memory names its sources, the evidence for it, and the memories that were derived from it.

  @row-28
  Scenario: What reinforces a belief is listed as its evidence and not as what it was made from
    Given on 8 June 2026 at 10:00, `anamnesis memory add --kind belief --text "Cooking for others lifts her mood" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And `anamnesis memory add --kind episode --text "Laughed at the neighbours' dinner she cooked" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And `anamnesis memory source {memory of "lifts her mood"} --org {org} --patient {patient}` shows "derived from           1"
    When on 9 June 2026 at 10:00, `anamnesis memory reinforce {memory of "lifts her mood"} --derived-from {memory of "Laughed"} --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    Then `anamnesis memory source {memory of "lifts her mood"} --org {org} --patient {patient}` shows "derived from           1"
    And `anamnesis memory source {memory of "lifts her mood"} --org {org} --patient {patient}` shows "reinforced, verified   1, 0"
    And `anamnesis memory source {memory of "lifts her mood"} --org {org} --patient {patient}` shows "evidence               1"

  @row-28
  Scenario: What took the place of an older dose has the older note as evidence besides its own document
    Given on 8 June 2026 at 10:00, the clinical note "uno" says
      """
      Toma valsartán 80 mg al día.
      """
    And on 22 June 2026 at 10:00, the clinical note "dos" says
      """
      Se aumenta valsartán a 160 mg al día.
      """
    Then the memory holds
      | statement        | state      |
      | valsartan 160 mg | active     |
      | valsartan 80 mg  | superseded |
    And the source of "valsartan 160 mg" shows "clinical_note, 2026-06-22"
    And the source of "valsartan 160 mg" shows "source_episode"
    And `anamnesis memory source {memory of "valsartan 160 mg"} --org {org} --patient {patient}` shows "evidence               1"

  @row-29
  Scenario: A belief made from two episodes is seen from both of them, and both from it
    Given on 8 June 2026 at 10:00, `anamnesis memory add --kind episode --text "Fue al cine sola" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And on 15 June 2026 at 10:00, `anamnesis memory add --kind episode --text "Cenó sola en un restaurante" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    When on 16 June 2026 at 10:00, `anamnesis memory add --kind belief --text "Puede disfrutar sin compañía" --derived-from {memory of "cine sola"} --derived-from {memory of "restaurante"} --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    Then the source of "disfrutar sin" shows "Fue al cine sola"
    And the source of "disfrutar sin" shows "Cenó sola en un restaurante"
    And `anamnesis memory trace {memory of "cine sola"} --down --org {org} --patient {patient}` shows "Puede disfrutar sin compañía"
    And `anamnesis memory trace {memory of "restaurante"} --down --org {org} --patient {patient}` shows "Puede disfrutar sin compañía"

  @row-29
  Scenario: What a memory was made from does not change when something else comes to speak for it
    Given on 8 June 2026 at 10:00, `anamnesis memory add --kind episode --text "Drove on the motorway with her brother" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And `anamnesis memory add --kind belief --text "She is able to drive" --derived-from {memory of "motorway"} --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And on 15 June 2026 at 10:00, `anamnesis memory add --kind episode --text "Fetched the children by car" --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    When `anamnesis memory reinforce {memory of "able to drive"} --derived-from {memory of "Fetched"} --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    Then `anamnesis memory source {memory of "able to drive"} --org {org} --patient {patient}` shows "derived from           2"
    And the source of "able to drive" shows "motorway"

  @row-30
  Scenario: A memory is traced over several steps up to the documents it rests on, each shown once
    Given on 8 June 2026 at 10:00, the clinical note "uno" says
      """
      Padece fibromialgia.
      """
    And `anamnesis memory add --kind belief --text "El dolor manda en su agenda" --derived-from {memory of "fibromyalgia"} --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    And `anamnesis memory add --kind note --text "Planifica los días por el dolor" --derived-from {memory of "fibromyalgia"} --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    When on 9 June 2026 at 10:00, `anamnesis memory add --kind belief --text "Necesita descansos programados" --derived-from {memory of "manda en su agenda"} --derived-from {memory of "Planifica"} --org {org} --patient {patient} --by {actor} --role clinician` succeeds
    Then the source of "descansos programados" shows "manda en su agenda"
    And the source of "descansos programados" shows "Planifica los días"
    And the source of "descansos programados" shows "fibromyalgia"
    And the source of "descansos programados" shows "document: clinical_note, 2026-06-08"
    And `anamnesis memory trace {memory of "descansos programados"} --org {org} --patient {patient}` shows "(shown above)"

  @row-31
  Scenario: From a capture one sees every statement that was read from it
    Given on 8 June 2026 at 10:00, the uploaded document "discharge" says
      """
      Discharged with warfarin 5 mg daily after pulmonary embolism. Allergic to cephalexin.
      """
    Then `anamnesis memory trace {memory of "Document as captured"} --down --org {org} --patient {patient}` shows "warfarin"
    And `anamnesis memory trace {memory of "Document as captured"} --down --org {org} --patient {patient}` shows "pulmonary embolism"
    And `anamnesis memory trace {memory of "Document as captured"} --down --org {org} --patient {patient}` shows "cephalexin"

  @row-32 @row-39
  Scenario: A statement of unknown source is listed as an orphan, and one with a source is not
    Given the next document carries
      | provenance.source_type | unknown |
    And on 8 June 2026 at 10:00, the clinical note "old" says
      """
      Has sarcoidosis.
      """
    And on 9 June 2026 at 10:00, the clinical note "new" says
      """
      Has osteoporosis.
      """
    Then `anamnesis memory orphans --org {org} --patient {patient}` shows "sarcoidosis"
    And `anamnesis memory orphans --org {org} --patient {patient}` does not show "osteoporosis"
    And the profile shows "osteoporosis"

  @row-35 @row-39
  Scenario: The lineage record tells who said it, how surely it was stored, and how sure it is now
    Given the next document carries
      | provenance.confidence | 0.8 |
    And on 8 June 2026 at 10:00, the chat message "mensaje" says
      """
      Prefiero que las sesiones sean por la tarde.
      """
    When on 3 June 2027 at 10:00, time passes
    Then `anamnesis memory source {memory of "por la tarde"} --org {org} --patient {patient}` shows "0.80 stored, 0.68 now"
    And `anamnesis memory source {memory of "por la tarde"} --org {org} --patient {patient}` shows "patient"
    And `anamnesis memory source {memory of "por la tarde"} --org {org} --patient {patient}` shows "direct_experience, explicit, T1"
