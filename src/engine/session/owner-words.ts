/**
 * Messages from people and the task of each run: texts that no cut may remove from the prompt.
 * Must not know: how the texts are shown.
 * Invariants: each text appears once, in the turn that answered it.
 */

import type { JournalRecord } from '../../domain/journal-record.ts'

export interface SessionMessage {
  readonly id: string
  readonly turn: number
  readonly run_id: string
  readonly text: string
  /**
   * False if a model wrote the text, or it came from a source. Such a text is kept only if it is the task of the
   * current run.
   */
  readonly isOwner: boolean
}

export function messagesFromInput(
  run_id: string,
  { turn, input }: Extract<JournalRecord, { kind: 'input_bound' }>,
): readonly SessionMessage[] {
  return input.flatMap((observation): SessionMessage[] =>
    observation.type === 'user_message'
      ? [{ id: observation.id, turn, run_id, text: observation.text, isOwner: observation.words === undefined }]
      : [],
  )
}

/** Removes the texts of a turn without an answer: its input is still unread and will be bound again. */
export function removeTurnMessages(words: SessionMessage[], turn: number): void {
  while (words.at(-1)?.turn === turn) words.pop()
}

/** The task of a run: the dispatch's prompt, else the run's first message. */
export function findTaskMessage(
  words: readonly SessionMessage[],
  run_id: string | undefined,
): SessionMessage | undefined {
  return words.find(({ id }) => id === run_id) ?? words.find((word) => word.run_id === run_id)
}
