/** Progress that a running command reports. */

import type { Delta, Event } from '../../domain/event.ts'
import type { Json } from '../../domain/json.ts'
import type { PeopleText } from '../../domain/language.ts'

export type Progress =
  | { readonly kind: 'event'; readonly event: Event }
  | { readonly kind: 'delta'; readonly delta: Delta }
  | ({ readonly kind: 'note' } & PeopleText)
  /** A part of the output, sent before the command ends. */
  | { readonly kind: 'item'; readonly item: Json }

/** For callers that want no progress. A listener that is this very function costs nothing: no progress is computed. */
export const ignoreProgress = (_: Progress): void => {}
