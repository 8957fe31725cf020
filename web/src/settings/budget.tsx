/** The part Budget of Settings: the spending limits, each saved by itself. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { readCommand } from '../api.ts'
import { Button, Card, Section } from '../components.tsx'
import { count, money } from '../format.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { BUDGET_TEXTS } from '../texts/settings/budget.ts'
import { useFetched } from '../use-fetched.ts'
import { TextField, useAction } from './form.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type LimitName = keyof (typeof BUDGET_TEXTS)['en']['names']

const FIRST: readonly LimitName[] = [
  ...(['per_day_usd', 'per_month_usd', 'per_dispatch_usd'] as const),
  ...(['per_dispatch_minutes', 'per_dispatch_calls', 'per_agent_usd'] as const),
]

export function Budget(props: PartProps) {
  const { page, language } = props
  const own = BUDGET_TEXTS[language]
  const fetched = useFetched(page, '', async () => ({
    limits: (await readCommand('config explain', { key: 'budget.' })).items,
    spent: await readCommand('budget show'),
  }))
  if (fetched.kind !== 'ready') return <NotFetched {...props} state={fetched} />
  const { limits, spent } = fetched.data
  const others = (Object.keys(own.names) as LimitName[]).filter((name) => !FIRST.includes(name))
  const fields = (names: readonly LimitName[]) =>
    names.map((name) => {
      const { value = null, source = 'default' } = limits.find(({ key }) => key === `budget.${name}`) ?? {}
      const current = typeof value === 'number' ? String(value) : ''
      return (
        <LimitField key={`${name} ${current}`} {...props} {...{ name, current }} isDefault={source === 'default'} />
      )
    })
  return (
    <div class="flex flex-col gap-6">
      <div class="flex flex-col gap-1">
        <p class="max-w-2xl text-muted">{own.intro}</p>
        <Spent {...props} spent={spent} />
      </div>
      <Section title={own.limits}>
        <Card class="flex flex-col gap-5 px-4 py-4">
          <div class="grid gap-x-6 gap-y-5 sm:grid-cols-2 lg:grid-cols-3">{fields(FIRST)}</div>
          <details>
            <summary class="label cursor-pointer list-none underline underline-offset-2 hover:text-ink">
              {own.more}
            </summary>
            <div class="mt-4 grid gap-x-6 gap-y-5 sm:grid-cols-2 lg:grid-cols-3">{fields(others)}</div>
          </details>
        </Card>
      </Section>
    </div>
  )
}

function Spent({ spent, language }: PartProps & { readonly spent: CommandOutput<'budget show'> }) {
  const own = BUDGET_TEXTS[language]
  const { today, forecast } = spent
  return (
    <p>
      {own.today(money(today.usd, language), count(today.calls, language))}{' '}
      {forecast.this_month_usd !== null && own.forecast(money(forecast.this_month_usd, language))}{' '}
      <a class="text-link underline underline-offset-2" href="/costs">
        {own.costs}
      </a>
    </p>
  )
}

interface LimitProps extends PartProps {
  readonly name: LimitName
  readonly current: string
  readonly isDefault: boolean
}

function LimitField({ name, current, isDefault, ...props }: LimitProps) {
  const { page, language } = props
  const [own, common] = [BUDGET_TEXTS[language], commonTexts(props)]
  const [value, setValue] = useState(current)
  const action = useAction(page, language)
  const save = async (): Promise<void> => {
    const text = value.trim()
    if (text !== '' && !(Number(text) > 0)) return action.fail(own.noNumber)
    await action.run('budget set', { key: name, value: text === '' ? 'none' : text }, common.saved)
  }
  return (
    <form
      class="flex flex-col items-start gap-2"
      data-limit={name}
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
    >
      <div class="w-full">
        <TextField
          label={own.names[name]}
          help={isDefault && current !== '' ? own.isDefault : ''}
          error={action.error ?? undefined}
          value={value}
          placeholder={own.noLimit}
          inputMode="decimal"
          onChange={setValue}
        />
      </div>
      {value.trim() !== current && (
        <Button type="submit" busy={action.busy}>
          {common.save}
        </Button>
      )}
    </form>
  )
}
