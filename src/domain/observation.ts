/** Observation: input that reaches a session from outside its own turns. Each session has a durable inbox. */

import type { Json } from './json.ts'
import type { Label } from './label.ts'

export type Observation = {
  readonly id: string
  readonly ts: number
  /** Absent: as trusted as the owner's own text. Third-party text is in data fences, whatever the label. */
  readonly label?: Label
  /** Set if a model, not the owner, wrote the text outside data fences. */
  readonly words?: 'model'
} & (
  | { readonly type: 'user_message'; readonly text: string }
  | { readonly type: 'system_event'; readonly name: string; readonly payload?: Json }
)
