/** What a message in a chat does. */

import type { Op } from '../../../ports/store.ts'

export type ChatEffect =
  | {
      readonly kind: 'command'
      /** Committed together with the reply. */
      readonly ops: readonly Op[]
      readonly text: string
      /** Contract: called with the results of `ops` when they are on disk; never throws. */
      after?(results: readonly unknown[]): void
    }
  /** A command that takes a while: the chat does not wait for it, and its reply follows. Never rejects. */
  | { readonly kind: 'slow'; run(): Promise<string> }
  /** No command: the message goes into the conversation. */
  | { readonly kind: 'message' }

export const replyOnly = (text: string): ChatEffect => ({ kind: 'command', ops: [], text })
