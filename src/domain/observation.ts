/** Observation: input that reaches a session from outside its own turns. Each session has a durable inbox. */

import type { Json } from './json.ts'
import type { Label } from './label.ts'
import type { ReplyTo } from './reply-to.ts'

export type Observation = {
  readonly id: string
  readonly ts: number
  /** Absent: as trusted as the owner's own text. Third-party text is in data fences, whatever the label. */
  readonly label?: Label
  /** Set if a model, or a writer of a source, and not the owner wrote the text outside data fences. */
  readonly words?: 'model' | 'source'
  /** Where the answer to this message goes. Absent: where the metadata of the dispatch says. */
  readonly reply_to?: ReplyTo
  /** True: it wakes no run and starts none; the session reads it with its next input. */
  readonly quiet?: true
  /** True: the session reads it in the behaviour `router`, whatever it is doing. */
  readonly route?: true
} & (
  | {
      readonly type: 'user_message'
      readonly text: string
      /** Files that came with the message: paths in the workspace of the session. */
      readonly files?: readonly string[]
    }
  | { readonly type: 'system_event'; readonly name: string; readonly payload?: Json }
)
