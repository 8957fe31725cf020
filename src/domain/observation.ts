/** Observation: what reaches a session from outside its own turns. One durable inbox per session. */

import type { Json } from './json.ts'

export type Observation =
  | { readonly id: string; readonly type: 'user_message'; readonly text: string; readonly ts: number }
  | {
      readonly id: string
      readonly type: 'system_event'
      readonly name: string
      readonly payload?: Json
      readonly ts: number
    }
