/** Head of the place Now: kernel, its state, buttons. */

import { Button, Dot, toneOf } from '../components.tsx'
import type { PageState } from '../page-state.ts'
import type { ViewContext } from '../view-context.ts'

interface HeaderProps {
  readonly context: ViewContext
  readonly page: PageState
  /** undefined: not read yet. */
  readonly state: string | undefined
}

export function Header({ context: { texts }, page, state }: HeaderProps) {
  const { view } = page
  const button = (command: 'cycle now' | 'pause' | 'resume', label: string, done: string) => (
    <Button key={command} busy={view.busy.has(command)} onClick={() => void page.run(command, {}, { done })}>
      {label}
    </Button>
  )
  return (
    <header class="flex flex-wrap items-center gap-x-6 gap-y-3 pb-5">
      <h1 class="text-xl font-semibold tracking-tight">{texts.title}</h1>
      {state !== undefined && (
        <>
          <span class="flex items-center gap-2" data-state={state}>
            <Dot tone={toneOf(state)} />
            {texts.states[state] ?? state}
            <span class="font-mono text-muted">{view.status?.kernel.id}</span>
          </span>
          <span class="ml-auto flex flex-wrap items-center gap-x-3 gap-y-2">
            {button('cycle now', texts.cycleNow, texts.cycleStarted)}
            {state === 'paused'
              ? button('resume', texts.resume, texts.resumed)
              : button('pause', texts.pause, texts.pausedNow)}
          </span>
        </>
      )}
    </header>
  )
}
