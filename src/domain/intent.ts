/**
 * Intent lock: the outward calls that a task needs, judged from the owner's messages alone. Only a new message of the
 * owner adds calls.
 */

export interface ToolNeed {
  readonly tool: string
  /** The action of the tool (`Effect.method`); absent: the tool only sends or asks. */
  readonly method?: string
  /** Required destinations; absent: those named in the owner's messages. */
  readonly to?: readonly string[]
}
