/** The part Doctor of Settings: findings first, each with what was found, why it matters and what to do. */

import { useEffect, useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Button, Card, Chevron, Dot } from '../components.tsx'
import { visibleText } from '../format.ts'
import { DOCTOR_TEXTS } from '../texts/settings/doctor.ts'
import { FormError, useAction } from './form.tsx'
import { FactList } from './frame.tsx'
import type { PartProps } from './parts.ts'

type Check = CommandOutput<'doctor'>['checks'][number]

/** Where a finding is dealt with. */
const PLACES: Readonly<Record<string, string>> = {
  ...{ model: '/settings/models', notices: '/settings/channels', channel: '/settings/channels' },
  ...{ 'mcp server': '/settings/mcp', plugin: '/settings/plugins', 'unknown outcomes': '/needs-you' },
  ...{ 'dead work': '/work/queue', documents: '/memory', schedules: '/agents', residents: '/now' },
}

/** `mcp server files` is of the kind `mcp server`. */
const kindOf = (name: string): string => /^(mcp server|source|channel|plugin) /.exec(name)?.[1] ?? name

const textOf = (name: string, { language }: Pick<PartProps, 'language'>) => {
  const { checks, kinds } = DOCTOR_TEXTS[language]
  return kinds[kindOf(name)] ?? checks[name]
}

function nameOf(name: string, props: PartProps): string {
  const [kind, title] = [kindOf(name), textOf(name, props)?.name]
  if (title === undefined) return visibleText(name)
  return kind === name ? title : `${title} ${visibleText(name.slice(kind.length + 1))}`
}

export function Doctor(props: PartProps) {
  const { page, language } = props
  const own = DOCTOR_TEXTS[language]
  const action = useAction(page, language)
  const [checks, setChecks] = useState<readonly Check[] | null>(null)
  const check = async (fix?: { readonly only?: string }): Promise<void> => {
    const input = fix ? { fix: true, ...fix } : {}
    const done = ({ checks: found }: CommandOutput<'doctor'>): string => {
      if (!fix) return ''
      const isLeft = found.some(({ name, fixable }) => fixable && (fix.only === undefined || fix.only === name))
      return isLeft ? own.notFixed : own.fixed
    }
    const report = await action.run('doctor', input, done)
    if (report) setChecks(report.checks)
  }
  useEffect(() => void check(), [])
  const findings = checks?.filter(({ ok }) => !ok) ?? []
  return (
    <div class="flex flex-col gap-4">
      <p class="max-w-2xl text-muted">{own.intro}</p>
      <div class="flex flex-wrap items-center gap-3">
        <Button busy={action.busy} onClick={() => void check()}>
          {action.busy ? own.checking : own.again}
        </Button>
        {findings.filter(({ fixable }) => fixable).length > 1 && (
          <Button busy={action.busy} onClick={() => void check({})}>
            {own.fixAll}
          </Button>
        )}
        {checks && (
          <span role="status" data-findings={findings.length}>
            {findings.length === 0 ? own.allGood : own.problems(findings.length)}
          </span>
        )}
      </div>
      <FormError error={action.error} />
      {findings.map((finding) => (
        <Finding
          key={finding.name}
          {...props}
          {...{ finding, busy: action.busy }}
          fix={() => void check({ only: finding.name })}
        />
      ))}
      {checks && <Passed {...props} checks={checks.filter(({ ok }) => ok)} />}
    </div>
  )
}

interface FindingProps extends PartProps {
  readonly finding: Check
  readonly busy: boolean
  fix(): void
}

function Finding({ finding, busy, fix, ...props }: FindingProps) {
  const own = DOCTOR_TEXTS[props.language]
  const text = textOf(finding.name, props)
  const place = PLACES[kindOf(finding.name)]
  const said = (props.language === 'zh' ? text?.remedy : undefined) ?? finding.remedy
  const remedy = said === 'run tireless doctor --fix' ? own.pressFix : said
  return (
    <Card class="px-4 py-3">
      <article class="flex flex-col gap-2" data-finding={finding.name}>
        <h2 class="flex items-center gap-2 font-semibold wrap-anywhere">
          <Dot tone="fault" />
          {nameOf(finding.name, props)}
        </h2>
        <FactList
          facts={[
            [own.found, visibleText(finding.found)],
            ...(text ? [[own.why, text.why] as const] : []),
            ...(remedy === null ? [] : [[own.remedy, visibleText(remedy)] as const]),
          ]}
        />
        {(finding.fixable || place !== undefined) && (
          <p class="flex flex-wrap items-center gap-3">
            {finding.fixable && (
              <Button look="main" busy={busy} onClick={fix}>
                {own.fix}
              </Button>
            )}
            {place !== undefined && (
              <a class="text-link underline underline-offset-2" href={place}>
                {own.goThere}
              </a>
            )}
          </p>
        )}
      </article>
    </Card>
  )
}

function Passed({ checks, ...props }: PartProps & { readonly checks: readonly Check[] }) {
  const own = DOCTOR_TEXTS[props.language]
  return (
    <details class="group">
      <summary class="flex cursor-pointer list-none items-center gap-1.5 text-muted hover:text-ink">
        <Chevron />
        {own.passed(checks.length)}
      </summary>
      <Card class="mt-2 px-4 py-3">
        <FactList
          facts={checks.map((check) => [
            nameOf(check.name, props),
            <span key={check.name} class="text-muted">
              {visibleText(check.found)}
            </span>,
          ])}
        />
      </Card>
    </details>
  )
}
