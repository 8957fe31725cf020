/** What a need must contain so that it can be shown and answered. */

import { NEED_KINDS } from '../../../domain/need.ts'
import {
  listOf,
  oneOf,
  orAbsent,
  orNull,
  storedAny,
  storedBoolean,
  storedObject,
  storedRecordOf,
  storedText,
} from './value-shapes.ts'

const peopleText = storedObject({ text: storedText, zh: orAbsent(storedText) })

const words = storedObject({ key: storedText, required: storedBoolean })

const command = storedObject({ name: storedText, input: storedRecordOf(storedAny), words: orAbsent(words) })

/** The column `body`. */
export const needBodyShape = storedObject({
  agent_id: orNull(storedText),
  session_id: orNull(storedText),
  run_id: orNull(storedText),
  expires_at: orNull(storedText),
  after_expiry: orNull(peopleText),
  because: orNull(storedObject({ message_id: storedText, words: storedText, at: storedText })),
  title: peopleText,
  body: peopleText,
  choices: listOf(storedObject({ id: storedText, text: peopleText, does: peopleText, command: orNull(command) })),
})

export const needAnswerShape = storedObject({ choice: storedText, words: orNull(storedText) })

const needKeyShape = storedObject({ id: storedText, kind: oneOf(NEED_KINDS), same_as: storedText })

export const newNeedShape = (need: unknown) => needKeyShape(need) ?? needBodyShape(need)
