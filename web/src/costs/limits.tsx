/** The limits of spending: what is left, when each is reached, and a form to change it in place. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Button, Card, Section } from '../components.tsx'
import { Dialog, DialogButtons } from '../dialog.tsx'
import { clockTime, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { CostsTexts } from '../texts/costs.ts'
import { useFocus } from '../use-focus.ts'
import type { ViewContext } from '../view-context.ts'
import { formatAmount, formatDay } from './amounts.ts'
import type { Measure } from './plot-data.ts'

export type Budget = CommandOutput<'budget show'>
type Cap = Budget['caps'][number]

interface LimitsProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly own: CostsTexts
  readonly budget: Budget
}

/** Limits that are shown even if they are not set; in this order, before the others. */
const ALWAYS_SHOWN = ['per_day_usd', 'per_month_usd']

export function Limits({ budget: { caps }, ...props }: LimitsProps) {
  const names = [...new Set([...ALWAYS_SHOWN, ...caps.map(({ name }) => name)])]
  return (
    <Section title={props.own.limits}>
      <Card>
        <ul class="divide-y divide-line">
          {names.map((name) => (
            <Limit key={name} {...props} name={name} caps={caps.filter((cap) => cap.name === name)} />
          ))}
        </ul>
        <p class="label border-t border-line px-4 py-3 sm:px-5">{props.own.limitsHelp}</p>
      </Card>
    </Section>
  )
}

interface LimitProps extends Omit<LimitsProps, 'budget'> {
  readonly name: string
  /** One for each agent or kernel that the limit is for; empty: there is no such limit, or no agent used it today. */
  readonly caps: readonly Cap[]
}

function Limit({ caps, ...props }: LimitProps) {
  const [isChanging, setChanging] = useState(false)
  const { context, own, name } = props
  const limit = caps[0]?.limit
  const title = titleOf(own, name)
  return (
    <li class="px-4 py-3 sm:px-5" data-limit={name}>
      <div class="flex items-center justify-between gap-x-3">
        <span class="min-w-0">
          <span class="font-medium">{title}</span>{' '}
          <span class="figures text-muted">
            {limit === undefined ? own.noLimit : sayLimit(own, unitOf(name), limit, context.language)}
          </span>
        </span>
        {!isChanging && <Button onClick={() => setChanging(true)}>{limit === undefined ? own.set : own.change}</Button>}
      </div>
      {isChanging && <LimitForm {...props} title={title} limit={limit} onClose={() => setChanging(false)} />}
      {caps
        .toSorted((a, b) => b.used - a.used)
        .slice(0, MAX_USERS)
        .map((cap) => (
          <Usage key={cap.of} context={context} own={own} cap={cap} />
        ))}
    </li>
  )
}

/** Agents that are shown below a limit that each of them has. */
const MAX_USERS = 5

interface UsageProps {
  readonly context: ViewContext
  readonly own: CostsTexts
  readonly cap: Cap
}

function Usage({ context, own, cap }: UsageProps) {
  return (
    <div class="mt-2">
      <div class="flex items-baseline justify-between gap-3">
        {cap.of !== null && <span class="min-w-0 truncate">{visibleText(cap.of)}</span>}
        <span class="label figures shrink-0">
          {own.used(formatAmount(unitOf(cap.name), cap.used, context.language))}
        </span>
      </div>
      <Bar used={cap.used} limit={cap.limit} />
      <p class="label figures mt-1">{sayOutlook(context, own, cap)}</p>
    </div>
  )
}

function Bar({ used, limit }: { readonly used: number; readonly limit: number }) {
  const share = limit === 0 ? 1 : Math.min(1, used / limit)
  return (
    <div class="mt-1 h-1.5 overflow-hidden rounded-full bg-sunken" aria-hidden="true">
      <div
        class={`h-full ${share >= 1 ? 'bg-fault' : share > 0.8 ? 'bg-wait' : 'bg-live'}`}
        style={{ width: `${share * 100}%` }}
      />
    </div>
  )
}

function sayOutlook({ language, now }: ViewContext, own: CostsTexts, { name, left, reached_at }: Cap): string {
  if (left <= 0) return own.reached
  const amount = own.left(formatAmount(unitOf(name), left, language))
  if (reached_at === null) return `${amount} · ${own.notReached}`
  const at = Date.parse(reached_at)
  // Days ahead, an hour would be false precision.
  const isSoon = at - now < 86_400_000
  const exact = isSoon
    ? clockTime(at, now, language).replace(/:\d\d$/, '')
    : formatDay(reached_at.slice(0, 10), language)
  const time = `${relativeTime(at, now, language)} (${exact})`
  return `${amount} · ${own.reachedAt(time)}`
}

interface LimitFormProps extends Omit<LimitProps, 'caps'> {
  readonly title: string
  readonly limit: number | undefined
  onClose(): void
}

function LimitForm({ context: { texts, language }, page, own, name, title, limit, onClose }: LimitFormProps) {
  const [value, setValue] = useState(limit === undefined ? '' : String(limit))
  const [isRemoving, setRemoving] = useState(false)
  const field = useFocus<HTMLInputElement>()
  const unit = unitOf(name)
  const isValid = Number(value) > 0
  const busy = page.view.busy.has(`limit ${name}`)
  const change = async (to: string): Promise<void> => {
    const done =
      to === 'none' ? own.limitRemoved(title) : own.limitChanged(title, sayLimit(own, unit, Number(to), language))
    if (await page.run('budget set', { key: name, value: to }, { busy: `limit ${name}`, done })) onClose()
  }
  return (
    <form
      class="mt-2 flex flex-wrap items-center gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        if (isValid) void change(value.trim())
      }}
    >
      <input
        class="w-32 min-w-0 rounded-md border border-line bg-surface px-2.5 py-1.5"
        inputMode="decimal"
        aria-label={own.newLimit(own.units[unit])}
        aria-invalid={value !== '' && !isValid}
        value={value}
        ref={field}
        onInput={({ currentTarget }) => setValue(currentTarget.value)}
        onKeyDown={({ key }) => key === 'Escape' && onClose()}
      />
      <Button look="main" type="submit" busy={busy || !isValid}>
        {own.save}
      </Button>
      {limit !== undefined && (
        <Button look="danger" busy={busy} onClick={() => setRemoving(true)}>
          {own.remove}
        </Button>
      )}
      <Button onClick={onClose}>{texts.cancel}</Button>
      {value !== '' && !isValid && <span class="text-fault">{own.invalidLimit}</span>}
      {isRemoving && (
        <Dialog title={own.removeTitle} onClose={() => setRemoving(false)}>
          <p class="mt-2 text-muted">{own.removeHelp}</p>
          <DialogButtons>
            <Button onClick={() => setRemoving(false)}>{texts.cancel}</Button>
            <Button look="danger" busy={busy} onClick={() => void change('none')}>
              {own.removeYes}
            </Button>
          </DialogButtons>
        </Dialog>
      )}
    </form>
  )
}

const NAME = /^per_(day|agent|kernel|month)_(usd|calls|tokens)$/

const unitOf = (name: string): Measure => (NAME.exec(name)?.[2] as Measure | undefined) ?? 'usd'

function titleOf(own: CostsTexts, name: string): string {
  const scope = NAME.exec(name)?.[1] as keyof CostsTexts['scopes'] | undefined
  return scope === undefined ? name : own.scopes[scope]
}

const sayLimit = (own: CostsTexts, unit: Measure, limit: number, language: ViewContext['language']): string =>
  unit === 'usd' ? formatAmount(unit, limit, language) : `${formatAmount(unit, limit, language)} ${own.units[unit]}`
