/** What was understood of a sentence: all that would be created, before it is. */

import type { ComponentChildren } from 'preact'
import { readCommand } from '../api.ts'
import type { AgentPreview } from '../api-types.ts'
import { Button } from '../components.tsx'
import { count, type Language, money, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { AGENTS_TEXTS } from '../texts/agents.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { NextTimes } from './next-times.tsx'
import { WhenField } from './when-field.tsx'

interface PreviewProps {
  readonly page: PageState
  readonly context: ViewContext
  readonly preview: AgentPreview
  readonly isBusy: boolean
  onCreate(): void
  onCancel(): void
  onWhen(when: string): void
}

export function Preview({ page, context, preview, isBusy, onCreate, onCancel, onWhen }: PreviewProps) {
  const { language } = context
  const own = AGENTS_TEXTS[language].maker
  return (
    <div class="mt-4 border-t border-line pt-4" data-preview={preview.agent_id}>
      <h2 class="font-semibold">{own.understood}</h2>
      <dl class="mt-2 grid gap-x-5 gap-y-1.5 sm:grid-cols-[auto_minmax(0,1fr)]">
        <Row label={own.name}>
          <span class="font-medium">{visibleText(preview.agent_id)}</span>
        </Row>
        <Row label={own.does}>{visibleText(preview.does)}</Row>
        <Row label={own.times}>{saySchedule(preview, language)}</Row>
        {(preview.next ?? []).length > 0 && (
          <Row label={own.nextTimes}>
            <NextTimes context={context} times={preview.next ?? []} zone={preview.timezone} />
          </Row>
        )}
        {preview.watch.length > 0 && <Row label={own.watches}>{visibleText(preview.watch.map(pathOf).join(', '))}</Row>}
        <Row label={own.tools}>
          <OfferedTools page={page} language={language} />
        </Row>
        <Row label={own.folder}>
          <span class="font-mono text-[13px]">{visibleText(preview.workspace)}</span>
        </Row>
        <Row label={own.model}>
          <span class="font-mono text-[13px]">{visibleText(preview.uses_model)}</span>
        </Row>
        <Row label={own.cost}>{sayCost(preview, language)}</Row>
      </dl>
      {preview.beyond_model && (
        <Warning>
          {own.beyondModel}{' '}
          <a class="text-link underline underline-offset-2" href="/settings/models">
            {own.setModel}
          </a>
        </Warning>
      )}
      {preview.watch_missing && <Warning>{own.watchMissing}</Warning>}
      {preview.needs_yes && <Warning>{own[preview.needs_yes]}</Warning>}
      <div class="mt-4 flex flex-wrap items-center gap-2">
        <Button look="main" busy={isBusy} onClick={onCreate}>
          {own.create}
        </Button>
        <Button onClick={onCancel}>{own.change}</Button>
      </div>
      <div class="mt-3">
        <WhenField own={own} label={own.otherwise} check={onWhen} />
      </div>
    </div>
  )
}

function saySchedule({ schedule, when, when_zh }: AgentPreview, language: Language): string {
  if (schedule === null) return AGENTS_TEXTS[language].maker.once
  return language === 'zh' ? when_zh : when
}

const pathOf = (watched: unknown): string =>
  typeof watched === 'object' && watched !== null ? Object.values(watched).map(String).join(' ') : String(watched)

function OfferedTools({ page, language }: { readonly page: PageState; readonly language: Language }) {
  const tools = useFetched(page, '', () => readCommand('tools list'))
  if (tools.kind !== 'ready') return null
  const offered = tools.data.items.filter((tool) => tool.offered).map(({ name }) => name)
  return (
    <>
      {AGENTS_TEXTS[language].maker.allTools(offered.length)}
      <span class="label block font-mono wrap-anywhere">{visibleText(offered.join(', '))}</span>
    </>
  )
}

/** By the forecast; also for a day if it runs daily, else for a week. */
function sayCost({ usd_per_run, usd_per_day, runs_per_day = 0, uses_model }: AgentPreview, language: Language): string {
  const own = AGENTS_TEXTS[language].maker
  if (usd_per_run === null || usd_per_run === undefined) return own.unknownPrice(visibleText(uses_model))
  if (usd_per_run === 0) return own.free(visibleText(uses_model))
  const run = money(usd_per_run, language)
  if (!usd_per_day) return own.perRun(run)
  const [say, days] = runs_per_day >= 1 ? [own.perDay, 1] : [own.perWeek, 7]
  return say(run, money(usd_per_day * days, language), count(Math.round(runs_per_day * days), language))
}

function Row({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt class="label pt-0.5">{label}</dt>
      <dd class="min-w-0 wrap-anywhere">{children}</dd>
    </>
  )
}

const Warning = ({ children }: { readonly children: ComponentChildren }) => (
  <p class="mt-3 border-l-3 border-wait pl-3">{children}</p>
)
