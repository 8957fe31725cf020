/** What a message in a chat does. */

import type { Op } from '../../../ports/store.ts'

export type ChatEffect =
  | {
      readonly kind: 'command'
      /** Committed together with the reply. */
      readonly ops: readonly Op[]
      readonly text: string
      /** The files of the message are part of it. */
      readonly takesFiles?: true
      /** Contract: called with the results of `ops` when they are on disk; never throws. */
      after?(results: readonly unknown[]): void
    }
  /**
   * A command that commits by itself. It starts after its message was heard, so that a message that arrives again does
   * not run it again. The chat waits for a quick one, not for a slow one. `run` never rejects.
   */
  | { readonly kind: 'run'; readonly pace: 'quick' | 'slow'; run(): Promise<string> }
  /** No command: the message goes into the conversation. */
  | { readonly kind: 'message' }

export const replyOnly = (text: string): ChatEffect => ({ kind: 'command', ops: [], text })
