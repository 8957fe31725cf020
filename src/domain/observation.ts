/** Observation: what reaches a session from outside its own turns. One durable inbox per session. */

import type { Json } from './json.ts'
import type { Label } from './trust.ts'

export type Observation = {
  readonly id: string
  readonly ts: number
  /** What it is worth, where that is less than the owner's word. What others wrote stands in data fences all the same. */
  readonly label?: Label
  /** What stands outside of its fences is a model's, not the owner's. */
  readonly words?: 'model'
} & (
  | { readonly type: 'user_message'; readonly text: string }
  | { readonly type: 'system_event'; readonly name: string; readonly payload?: Json }
)
