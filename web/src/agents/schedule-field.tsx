/** When an agent runs: times in words or as a cron line, said back; at the kernel's beats; or only on changes. */

import { useEffect, useState } from 'preact/hooks'
import { ApiError, runCommand } from '../api.ts'
import type { PageState } from '../page-state.ts'
import type { ViewContext } from '../view-context.ts'
import { borderOf, describedBy, Field, type FormState, INPUT_CLASSES } from './fields.tsx'
import { NextTimes } from './next-times.tsx'

const MODES = ['times', 'beats', 'none'] as const

type Mode = (typeof MODES)[number]

const modeOf = (schedule: string): Mode => (schedule === 'beats' || schedule === 'none' ? schedule : 'times')

/** How long the owner has to stop writing before the time is read. */
const PAUSE_MS = 400

interface ScheduleFieldProps {
  readonly page: PageState
  readonly context: ViewContext
  readonly form: FormState
  readonly id: string
}

export function ScheduleField({ page, context, form, id }: ScheduleFieldProps) {
  const { own, draft } = form
  const mode = modeOf(draft.schedule)
  // Kept while another mode is chosen, so that trying one loses nothing.
  const [times, setTimes] = useState(mode === 'times' ? draft.schedule : '')
  const write = (text: string): void => {
    setTimes(text)
    form.set('schedule', text)
  }
  return (
    <Field form={form} name="schedule" isGroup>
      <div class="flex flex-col gap-1">
        {MODES.map((each) => (
          <label key={each} class="flex items-baseline gap-2">
            <input
              type="radio"
              name="agent-schedule-mode"
              checked={mode === each}
              onChange={() => form.set('schedule', each === 'times' ? times : each)}
            />
            {own.scheduleModes[each]}
          </label>
        ))}
      </div>
      {mode === 'times' && (
        <input
          {...describedBy(form, 'schedule')}
          class={`${INPUT_CLASSES} mt-2 ${borderOf(form, 'schedule')}`}
          aria-label={own.fields.schedule}
          autocomplete="off"
          value={draft.schedule}
          onInput={({ currentTarget }) => write(currentTarget.value)}
        />
      )}
      <SaidBack {...{ page, context, form, id }} schedule={draft.schedule} />
    </Field>
  )
}

interface Said {
  readonly schedule: string
  readonly words: string
  readonly next: readonly string[]
  readonly timezone: string
}

/** What was understood, a moment after the owner has stopped writing; what is wrong is said when it is saved. */
function SaidBack({ page, context, form, id, schedule }: ScheduleFieldProps & { readonly schedule: string }) {
  const [said, setSaid] = useState<Said>()
  useEffect(() => {
    if (schedule.trim() === '') return
    let isCurrent = true
    const timer = setTimeout(async () => {
      const read = await readSchedule(page, id, schedule, context.language)
      if (isCurrent) setSaid(read)
    }, PAUSE_MS)
    return () => {
      isCurrent = false
      clearTimeout(timer)
    }
  }, [page, id, schedule, context.language])
  if (said?.schedule !== schedule || 'schedule' in form.errors) return null
  return (
    <div class="mt-2 border-l-3 border-line pl-3" data-said-back>
      <p class="first-letter:uppercase">{said.words}</p>
      <NextTimes context={context} times={said.next} zone={said.timezone} />
    </div>
  )
}

async function readSchedule(page: PageState, id: string, schedule: string, language: 'en' | 'zh'): Promise<Said> {
  try {
    const { when, when_zh, timezone, next = [] } = await runCommand('agent edit', { id, schedule, dry_run: true })
    return { schedule, words: language === 'zh' ? when_zh : when, next, timezone }
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) page.reportFailure(thrown)
    return { schedule: '', words: '', next: [], timezone: 'UTC' }
  }
}
