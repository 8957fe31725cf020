/**
 * Intent lock: the outward calls that a task needs, derived from the owner's messages alone. Only a new message of the
 * owner widens it.
 */

export interface ToolNeed {
  readonly tool: string
  /** The action; absent: the tool only sends or asks. */
  readonly method?: string
  /** Required destinations; absent: those named in the owner's messages. */
  readonly to?: readonly string[]
}
