/**
 * The note and the question to the owner about a wall clock that is far ahead of what the store's commits bear out.
 * Must not know: how that is found, where notes go.
 */

import type { PeopleText } from '../../domain/language.ts'
import type { NewNeed } from '../../domain/need.ts'
import type { OwnerNote } from '../../domain/owner-note.ts'
import { iso } from '../../ports/clock.ts'

const HOUR_MS = 3_600_000

interface ClockDoubt {
  readonly ahead_ms: number
  readonly borne_out: number
}

/** Contract: pure; empty if the clock is not in doubt. */
export function clockNotes(doubt: ClockDoubt | undefined): readonly OwnerNote[] {
  if (doubt === undefined) return []
  const hours = Math.round(doubt.ahead_ms / HOUR_MS)
  const [en, zh] =
    hours < 72
      ? [`${hours} hours`, `${hours} 小时`]
      : [`${Math.round(hours / 24)} days`, `${Math.round(hours / 24)} 天`]
  const last = iso(doubt.borne_out).slice(0, 10)
  return [
    {
      about: 'clock in doubt',
      text:
        `The clock of this machine is ${en} ahead of the last record (${last}). Schedules follow it; nothing is ` +
        'deleted and nothing expires until Tireless has run for 24 hours. If the clock is right: tireless clock accept',
      zh:
        `本机时钟比最后一条记录（${last}）快 ${zh}。日程照常按时钟进行；在运行满 24 小时之前，不会删除任何东西，` +
        '也不会有任何东西过期。如果时钟是对的：tireless clock accept',
    },
  ]
}

/** What all questions about the clock of one home are about. */
export const CLOCK_NEED = 'clock'

/** Contract: pure; the question whether the wall clock is right. */
export function clockNeed(note: PeopleText): Pick<NewNeed, 'kind' | 'same_as' | 'title' | 'body' | 'choices'> {
  return {
    kind: 'clock',
    same_as: CLOCK_NEED,
    title: { text: 'Is the clock of this machine right?', zh: '本机时钟对吗？' },
    body: note,
    choices: [
      {
        id: 'accept',
        text: { text: 'It is right', zh: '是对的' },
        does: { text: 'Old records may be deleted and expire again.', zh: '旧记录可以重新被删除和过期。' },
        command: { name: 'clock accept', input: {} },
      },
      {
        id: 'wait',
        text: { text: 'Wait', zh: '等一等' },
        does: {
          text: 'Nothing is deleted or expires until Tireless has run for 24 hours, or the clock is set right.',
          zh: '在运行满 24 小时或时钟校正之前，不删除任何东西，也没有东西过期。',
        },
        command: null,
      },
    ],
  }
}
