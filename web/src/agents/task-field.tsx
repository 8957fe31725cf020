/** A task for an agent that works when it is given one. */

import { useState } from 'preact/hooks'
import { Button, Section } from '../components.tsx'
import type { Language } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { AGENT_TEXTS } from '../texts/agent.ts'

interface TaskFieldProps {
  readonly page: PageState
  readonly language: Language
  readonly id: string
}

export function TaskField({ page, language, id }: TaskFieldProps) {
  const own = AGENT_TEXTS[language]
  const [task, setTask] = useState('')
  const busy = `task ${id}`
  const send = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (task.trim() === '') return
    if (await page.run('enqueue', { agent: id, task }, { busy, done: own.taskQueued })) setTask('')
  }
  return (
    <Section title={own.giveTask}>
      <form class="flex flex-wrap gap-2" onSubmit={send}>
        <input
          class="min-w-48 flex-1 rounded-md border border-line bg-surface px-2.5 py-1.5 placeholder:text-muted"
          aria-label={own.giveTask}
          placeholder={own.taskHint}
          autocomplete="off"
          value={task}
          onInput={({ currentTarget }) => setTask(currentTarget.value)}
        />
        <Button type="submit" busy={page.view.busy.has(busy)}>
          {own.taskSend}
        </Button>
      </form>
    </Section>
  )
}
