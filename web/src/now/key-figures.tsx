/** Key figures: next beat, spending, queue, health. */

import type { ComponentChildren } from 'preact'
import type { Status } from '../api-types.ts'
import { Card } from '../components.tsx'
import { count, money, shortTime, timeLeft } from '../format.ts'
import type { ViewContext } from '../view-context.ts'
import { Health } from './health.tsx'

interface KeyFiguresProps {
  readonly context: ViewContext
  readonly status: Status | null
}

/** `needCount`: what waits for the owner, as the navigation counts it. */
export function KeyFigures({ context, status, needCount }: KeyFiguresProps & { readonly needCount: number }) {
  return (
    <Card>
      <div class="grid divide-y divide-line sm:grid-cols-2 sm:divide-y-0 lg:grid-cols-[1fr_1fr_1.6fr] lg:divide-x">
        <NextBeat context={context} status={status} />
        <Spend context={context} status={status} />
        <Queue context={context} status={status} />
      </div>
      <Health {...{ context, status, needCount }} />
    </Card>
  )
}

interface FigureProps {
  readonly label: string
  readonly figure: string
  readonly children: ComponentChildren
}

function Figure({ label, figure, children }: FigureProps) {
  return (
    <div class="flex flex-col gap-1 p-5">
      <span class="label">{label}</span>
      <span class="figures text-4xl font-light tracking-tight">{figure}</span>
      <span class="label figures min-h-5">{children}</span>
    </div>
  )
}

function NextBeat({ context: { texts, language, now }, status }: KeyFiguresProps) {
  const beat = status?.kernel.next_beat
  if (!beat)
    return (
      <Figure label={texts.nextBeat} figure="–">
        {texts.noBeat}
      </Figure>
    )
  if (status.kernel.state === 'paused')
    return (
      <Figure label={texts.nextBeat} figure="–">
        {texts.schedulePaused}
      </Figure>
    )
  const at = Date.parse(beat)
  return (
    <Figure label={texts.nextBeat} figure={at > now ? texts.inTime(timeLeft(at - now, language)) : texts.dueNow}>
      {at > now && texts.atTime(shortTime(at, now, language))}
    </Figure>
  )
}

function Spend({ context: { texts, language }, status }: KeyFiguresProps) {
  const { today_usd: today = null, cap_usd: cap = null, calls = null } = status?.spend ?? {}
  if (today === null)
    return (
      <Figure label={texts.spend} figure="–">
        {texts.noSpendData}
      </Figure>
    )
  const share = cap === null || cap === 0 ? 0 : Math.min(1, today / cap)
  return (
    <div class="relative">
      <Figure label={texts.spend} figure={money(today, language)}>
        {cap === null ? texts.noCap : texts.ofCap(money(cap, language))}
        {calls !== null && ` · ${texts.calls(count(calls, language))}`}
      </Figure>
      {cap !== null && (
        <div class="absolute inset-x-5 bottom-3 h-1 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
          <div class={`h-full ${share > 0.9 ? 'bg-fault' : 'bg-live'}`} style={{ width: `${share * 100}%` }} />
        </div>
      )}
    </div>
  )
}

const SHOWN_STATUSES = ['running', 'pending', 'waiting', 'done', 'failed', 'dead'] as const
const FAILED_STATUSES: readonly string[] = ['failed', 'dead']

function Queue({ context: { texts, language }, status }: KeyFiguresProps) {
  return (
    <div class="flex flex-col gap-1 p-5 sm:col-span-2 lg:col-span-1">
      <span class="label">{texts.queue}</span>
      <dl class="grid grid-cols-3 gap-x-4 gap-y-2 sm:grid-cols-6">
        {SHOWN_STATUSES.map((name) => {
          const number = status?.queue[name] ?? 0
          const colour = number === 0 ? 'text-other' : FAILED_STATUSES.includes(name) ? 'text-fault' : 'text-ink'
          return (
            <div key={name} class="flex flex-col-reverse" data-queue={name}>
              <dt class="label">{texts.statuses[name]}</dt>
              <dd class={`figures text-2xl leading-10 font-light ${colour}`}>{count(number, language)}</dd>
            </div>
          )
        })}
      </dl>
    </div>
  )
}
