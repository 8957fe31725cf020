/** One MCP server: its state, its tools in plain words, and what the owner can do with them. */

import { useState } from 'preact/hooks'
import type { CommandOutput } from '../../../src/commands/lib/registry.ts'
import { Button, Chevron, Dot, type Tone } from '../components.tsx'
import { count, type Language, visibleText } from '../format.ts'
import { translateError } from '../texts/settings/errors.ts'
import { MCP_TEXTS } from '../texts/settings/mcp.ts'
import { DeclareDialog } from './declare-tool.tsx'
import { FormError, useAction } from './form.tsx'
import { Confirm, Entry, Scrolled } from './frame.tsx'
import { commonTexts, type PartProps } from './parts.ts'

type Server = CommandOutput<'mcp list'>['items'][number]
export type ServerTool = Server['tools'][number]

interface ServerProps extends PartProps {
  readonly server: Server
}

const TONES: Readonly<Record<Server['state'], Tone>> = { idle: 'other', starting: 'wait', up: 'live', down: 'fault' }

const isWaiting = ({ status }: ServerTool): boolean => status === 'new' || status === 'changed'

export function ServerEntry({ server, ...props }: ServerProps) {
  const { language } = props
  const own = MCP_TEXTS[language]
  const { name, transport, state, tools } = server
  return (
    <Entry name={name} buttons={<ServerButtons {...props} server={server} />}>
      <p class="flex flex-wrap items-baseline gap-x-2">
        <Dot tone={tools.some(isWaiting) ? 'wait' : TONES[state]} />
        <span class="font-mono font-medium">{visibleText(name)}</span>
        <span class="label">
          {own.transports[transport]} · {own.states[state]}
        </span>
      </p>
      <ServerProblem language={language} server={server} />
      {tools.length === 0 && state !== 'down' && <p class="label">{own.noTools}</p>}
      {tools.length > 0 && <ServerTools {...props} server={server} />}
    </Entry>
  )
}

/** Why a server does not work. */
export function ServerProblem({ language, server }: { readonly language: Language; readonly server: Server }) {
  const { error, stderr, state } = server
  if (error === null) return null
  return (
    <div class="mt-1 flex flex-col gap-1">
      <p class="text-fault wrap-anywhere">{visibleText(translateError(error, language))}</p>
      {state === 'down' && stderr.length > 0 && (
        <details class="group label">
          <summary class="flex cursor-pointer list-none items-center gap-1 hover:text-ink">
            <Chevron />
            {MCP_TEXTS[language].stderr}
          </summary>
          <Scrolled>{stderr.join('\n')}</Scrolled>
        </details>
      )}
    </div>
  )
}

function ServerButtons({ server: { name, tools }, ...props }: ServerProps) {
  const { page, language } = props
  const [own, common] = [MCP_TEXTS[language], commonTexts(props)]
  const [isRemoving, setRemoving] = useState(false)
  const action = useAction(page, language)
  const test = async (): Promise<void> => {
    const tested = await action.run('mcp test', { server: name }, ({ ok, tools: found }) =>
      ok ? own.works(count(found.length, language)) : '',
    )
    if (tested && !tested.ok) page.toasts.add('fault', own.doesNotWork)
  }
  const approve = (): Promise<unknown> =>
    action.run('mcp approve', { server: name }, ({ approved }) => own.approved(approved.map(visibleText).join(', ')))
  return (
    <div class="flex max-w-md flex-col items-start gap-2 sm:items-end">
      <div class="flex flex-wrap gap-2">
        {tools.some(isWaiting) && (
          <Button look="main" busy={action.busy} onClick={() => void approve()}>
            {own.approveAll}
          </Button>
        )}
        <Button busy={action.busy} onClick={() => void test()}>
          {action.busy ? own.testing : common.test}
        </Button>
        <Button busy={action.busy} onClick={() => setRemoving(true)}>
          {common.remove}
        </Button>
      </div>
      <FormError error={action.error} />
      {isRemoving && (
        <Confirm
          {...props}
          title={own.removeTitle(visibleText(name))}
          yes={common.remove}
          busy={action.busy}
          onClose={() => setRemoving(false)}
          onYes={() => {
            setRemoving(false)
            void action.run('mcp remove', { server: name }, own.removed(visibleText(name)))
          }}
        >
          <p>{own.removeHelp}</p>
        </Confirm>
      )}
    </div>
  )
}

function ServerTools({ server, ...props }: ServerProps) {
  const own = MCP_TEXTS[props.language]
  const { tools } = server
  const [isOpen, setOpen] = useState(false)
  // Opens for a tool that waits, and stays as the owner left it.
  const toggled = ({ currentTarget }: { readonly currentTarget: HTMLDetailsElement }): void =>
    setOpen(currentTarget.open)
  return (
    <details class="group mt-1" open={isOpen || tools.some(isWaiting)} onToggle={toggled}>
      <summary class="label flex cursor-pointer list-none items-center gap-1 hover:text-ink">
        <Chevron />
        {own.toolCount(count(tools.length, props.language))}
      </summary>
      <ul class="mt-2 flex flex-col gap-3 border-l border-line pl-3" aria-label={own.tools}>
        {tools.map((tool) => (
          <li key={tool.tool}>
            <ToolView {...props} server={server} tool={tool} />
          </li>
        ))}
      </ul>
    </details>
  )
}

function ToolView({ server, tool, ...props }: ServerProps & { readonly tool: ServerTool }) {
  const { page, language } = props
  const own = MCP_TEXTS[language]
  const [isDeclaring, setDeclaring] = useState(false)
  const action = useAction(page, language)
  const { effect, declared, status, description, difference } = tool
  const approve = (): Promise<unknown> =>
    action.run('mcp approve', { server: server.name, tool: tool.tool }, own.approved(visibleText(tool.tool)))
  return (
    <div class="flex min-w-0 flex-col gap-0.5" data-tool={tool.tool}>
      <p class="flex flex-wrap items-baseline gap-x-2">
        <span class="font-mono text-act wrap-anywhere">{visibleText(tool.tool)}</span>
        <span class={`label ${isWaiting(tool) ? 'text-wait' : ''}`}>{own.statuses[status]}</span>
      </p>
      <p class="line-clamp-3 text-muted wrap-anywhere">{visibleText(description)}</p>
      <p class="label">
        {declared ? `${own.reaches[effect.reach]} · ${own.recoveries[effect.recovery]}` : own.undeclared}
      </p>
      {isWaiting(tool) && difference !== '' && <Scrolled>{difference}</Scrolled>}
      <p class="flex flex-wrap gap-2 pt-1">
        {isWaiting(tool) && (
          <Button busy={action.busy} onClick={() => void approve()}>
            {own.approve}
          </Button>
        )}
        <button
          type="button"
          class="label cursor-pointer underline underline-offset-2 hover:text-ink"
          onClick={() => setDeclaring(true)}
        >
          {own.declare}
        </button>
      </p>
      <FormError error={action.error} />
      {isDeclaring && <DeclareDialog {...props} server={server.name} tool={tool} onClose={() => setDeclaring(false)} />}
    </div>
  )
}
