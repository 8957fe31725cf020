/**
 * Messages from people and the task of each run: texts that no cut may remove from the prompt.
 * Must not know: how they are shown.
 * Invariants: each text appears once, in the turn that answered it.
 */

import type { JournalRecord } from '../domain/record.ts'

export interface SaidWords {
  readonly id: string
  readonly turn: number
  readonly run_id: string
  readonly text: string
  /** False: a model wrote it. It is kept only as the task of the current run. */
  readonly isOwner: boolean
}

export function saidIn(
  run_id: string,
  { turn, input }: Extract<JournalRecord, { kind: 'input_bound' }>,
): readonly SaidWords[] {
  return input.flatMap((observation): SaidWords[] =>
    observation.type === 'user_message'
      ? [{ id: observation.id, turn, run_id, text: observation.text, isOwner: observation.words !== 'model' }]
      : [],
  )
}

/** Removes the texts of a turn without an answer: its input is still unread and will be bound again. */
export function unsay(words: SaidWords[], turn: number): void {
  while (words.at(-1)?.turn === turn) words.pop()
}

/** The task of a run: the dispatch's prompt, else the run's first message. */
export function taskIn(words: readonly SaidWords[], run_id: string | undefined): SaidWords | undefined {
  return words.find(({ id }) => id === run_id) ?? words.find((word) => word.run_id === run_id)
}
