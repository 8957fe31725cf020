/** What stored todos, deltas and receipts must contain. */

import { isInstant } from '../../../domain/limits.ts'
import { TODO_PROOFS, TODO_STATUSES, TODO_TYPES, TODO_VERBS } from '../../../domain/todo.ts'
import {
  listOf,
  oneOf,
  orAbsent,
  orNull,
  storedBoolean,
  storedCount,
  storedInteger,
  storedObject,
  storedShape,
  storedText,
  storedUnion,
} from './value-shapes.ts'

const isoInstant = storedShape(
  'an ISO instant in the years 1970 to 9999',
  (value) => typeof value === 'string' && isInstant(Date.parse(value)),
)

const check = storedUnion('kind', {
  command: storedObject({ run: storedText, expect_exit: orAbsent(storedInteger) }),
  file: storedObject({
    ...{ path: storedText, exists: orAbsent(storedBoolean), contains: orAbsent(storedText) },
    sha256: orAbsent(storedText),
  }),
  http: storedObject({ url: storedText, status: orAbsent(storedInteger) }),
})

const checkResult = storedObject({
  ...{ check, ok: storedBoolean, exit: orAbsent(orNull(storedInteger)), observed: storedText, output: storedText },
  ...{ at: isoInstant, digest: storedText },
})

const newTodoFields = {
  ...{ title: storedText, type: oneOf(TODO_TYPES), deps: listOf(storedText), assignee: orNull(storedText) },
  ...{ parallel: storedBoolean, skills: listOf(storedText), checks: listOf(check) },
}

export const todoShape = storedObject({
  ...newTodoFields,
  ...{ code: storedText, session_id: storedText, status: oneOf(TODO_STATUSES), attempts: storedCount },
  notes: listOf(storedObject({ at: isoInstant, verb: oneOf(TODO_VERBS), by: storedText, text: storedText })),
  ...{ last_error: orNull(storedText), baseline: orNull(listOf(checkResult)), evidence: orNull(listOf(checkResult)) },
  ...{ proof: orNull(oneOf(TODO_PROOFS)), created_at: isoInstant, updated_at: isoInstant },
})

export const receiptShape = storedObject({
  ...{ op_id: storedText, session_id: storedText, at: isoInstant },
  ...{ actions: listOf(storedText), changed: listOf(storedText), refusal: orNull(storedObject({ kind: storedText })) },
})

const by = storedUnion('kind', {
  root: storedObject({ behaviour: storedText }),
  sub_agent: storedObject({ agent_id: storedText, behaviour: storedText }),
  user: storedObject({}),
  system: storedObject({}),
})

export const todosOpShape = storedObject({
  actions: listOf(
    storedUnion('kind', {
      add: storedObject({ by, todo: storedObject(newTodoFields) }),
      change: storedObject({ by, code: storedText, verb: oneOf(TODO_VERBS), reason: storedText }),
      baseline: storedObject({ by, code: storedText, results: listOf(checkResult) }),
      evidence: storedObject({ by, code: storedText, results: listOf(checkResult) }),
      clear: storedObject({ by }),
      release: storedObject({ by, reason: storedText }),
    }),
  ),
})
