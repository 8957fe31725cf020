/** What waiting cost, with the evidence, and what the planned work will cost. */

import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Card, Section } from '../components.tsx'
import { count, type Language, money, visibleText } from '../format.ts'
import type { CostsTexts } from '../texts/costs.ts'
import type { Spending } from './plot-data.ts'

interface IdleProps {
  readonly own: CostsTexts
  readonly language: Language
  readonly spending: Spending
}

export function IdleCost({ own, language, spending: { beats } }: IdleProps) {
  return (
    <Section title={own.idle}>
      <Card class="px-4 py-3 sm:px-5">
        <p class="font-medium" data-idle={beats.quiet}>
          {own.idleNothing(money(0, language))}
        </p>
        <p class="mt-1 text-muted">
          {beats.ended === 0
            ? own.idleNoBeats
            : own.idleBeats(count(beats.quiet, language), count(beats.ended, language))}{' '}
          <a class="text-link underline underline-offset-2" href="/now">
            {own.idleSee}
          </a>
        </p>
      </Card>
    </Section>
  )
}

type Simulation = CommandOutput<'simulate'>

interface PlannedProps {
  readonly own: CostsTexts
  readonly language: Language
  readonly simulation: Simulation
}

export function PlannedCost({ own, language, simulation: { total, guessed, unpriced } }: PlannedProps) {
  const { dispatches, usd_low, usd_high } = total
  const names = (agents: readonly string[]): string => visibleText(agents.join(', '))
  return (
    <Section title={own.planned}>
      <Card class="px-4 py-3 sm:px-5">
        {dispatches === 0 ? (
          <p class="text-muted">{own.plannedNone}</p>
        ) : (
          <>
            <p class="font-medium" data-planned={dispatches}>
              {own.plannedRuns(count(dispatches, language), money(usd_low, language), money(usd_high, language))}
            </p>
            <p class="mt-1 text-muted wrap-anywhere">
              {own.plannedMost} {guessed.length > 0 && usd_high > 0 && own.plannedGuess(names(guessed))}{' '}
              {unpriced.length > 0 && own.plannedUnpriced(names(unpriced))}
            </p>
          </>
        )}
      </Card>
    </Section>
  )
}
