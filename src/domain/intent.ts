/** Intent lock: what a task needs of the tools that reach others, fixed from the owner's words alone. Only the owner's next word widens it. */

export interface Need {
  readonly tool: string
  /** What it does there; absent: it only sends, or asks. */
  readonly method?: string
  /** Where it has to go; absent: wherever the owner's words say. */
  readonly to?: readonly string[]
}
