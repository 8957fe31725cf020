/** Header: kernel, state, connection, buttons. */

import { Button, Dot, Logo, type Tone, toneOf } from '../components.tsx'
import type { PageState } from '../page-state.ts'
import type { ViewContext } from './now.tsx'

interface HeaderProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly state: string
  switchLanguage(): void
}

const CONNECTIONS: Readonly<Record<string, Tone>> = { live: 'live', connecting: 'other', lost: 'fault' }

export function Header({ context: { texts }, page, state, switchLanguage }: HeaderProps) {
  const { view } = page
  const button = (command: string, label: string) =>
    view.commands.has(command) && (
      <Button key={command} busy={view.busy.has(command)} onClick={() => void page.runCommand(command)}>
        {label}
      </Button>
    )
  return (
    <header class="flex flex-wrap items-center gap-x-6 gap-y-3 py-5">
      <div class="flex items-center gap-3">
        <Logo isActive={state === 'running' && view.connection === 'live'} />
        <h1 class="text-lg font-semibold">Tireless</h1>
        <span class="font-mono text-muted">{view.status?.kernel.id}</span>
        <span class="flex items-center gap-2" data-state={state}>
          <Dot tone={toneOf(state)} />
          {texts.states[state] ?? state}
        </span>
      </div>
      <div class="ml-auto flex flex-wrap items-center gap-x-4 gap-y-2">
        <span class="label flex items-center gap-2" role="status" data-connection={view.connection}>
          <Dot tone={CONNECTIONS[view.connection] ?? 'other'} pulsing={view.connection !== 'live'} />
          {texts[view.connection]}
        </span>
        {button('cycle now', texts.cycleNow)}
        {state === 'paused' ? button('resume', texts.resume) : button('pause', texts.pause)}
        <button
          type="button"
          class="cursor-pointer text-muted hover:text-ink"
          aria-label={texts.switchLanguage}
          onClick={switchLanguage}
        >
          {texts.language}
        </button>
      </div>
      {view.errorMessage !== null && (
        <p class="w-full text-fault" role="alert">
          {view.errorMessage}
        </p>
      )}
    </header>
  )
}
