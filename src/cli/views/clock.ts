/** Shows what came of believing the wall clock. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { terminalLanguage } from './language.ts'
import { sayInstant } from './times.ts'

const TEXTS = {
  en: {
    accepted: (borneOut: string) =>
      `The clock is believed again. Until now, nothing later than ${borneOut} was certain.`,
    notInDoubt: 'The clock was not in doubt.',
  },
  zh: {
    accepted: (borneOut: string) => `时钟重新被信任。在此之前，只能确定到 ${borneOut}。`,
    notInDoubt: '时钟没有疑问。',
  },
} as const

export function renderClockAccepted({ was_in_doubt, borne_out }: CommandOutput<'clock accept'>): string {
  const texts = TEXTS[terminalLanguage()]
  return was_in_doubt ? texts.accepted(sayInstant(borne_out)) : texts.notInDoubt
}
