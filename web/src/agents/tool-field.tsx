/** The tools of an agent: all that the policy allows, or only some, each with what it does and how far it reaches. */

import { readCommand } from '../api.ts'
import type { ToolEntry } from '../api-types.ts'
import { type Language, oneLine, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { AgentTexts } from '../texts/agent.ts'
import { sayWhatToolDoes } from '../texts/agent-tools.ts'
import { useFetched } from '../use-fetched.ts'
import { Field, type FormState } from './fields.tsx'

interface ToolFieldProps {
  readonly page: PageState
  readonly language: Language
  readonly form: FormState
}

export function ToolField({ page, language, form }: ToolFieldProps) {
  const { own, draft } = form
  const fetched = useFetched(page, '', () => readCommand('tools list'))
  const tools = fetched.kind === 'ready' ? fetched.data.items : []
  const chosen = draft.tools === 'all' ? null : draft.tools.split(',').filter((name) => name !== '')
  const usual = tools.filter(({ offered }) => offered).map(({ name }) => name)
  return (
    <Field form={form} name="tools" isGroup>
      <div class="flex flex-col gap-1">
        <Choice label={own.allTools} isChosen={chosen === null} choose={() => form.set('tools', 'all')} />
        <Choice label={own.onlyTools} isChosen={chosen !== null} choose={() => form.set('tools', usual.join(','))} />
      </div>
      {chosen !== null && <ToolList {...{ own, language, tools, chosen }} set={(names) => form.set('tools', names)} />}
    </Field>
  )
}

interface ChoiceProps {
  readonly label: string
  readonly isChosen: boolean
  choose(): void
}

const Choice = ({ label, isChosen, choose }: ChoiceProps) => (
  <label class="flex items-baseline gap-2">
    <input type="radio" name="agent-tools-mode" checked={isChosen} onChange={choose} />
    {label}
  </label>
)

interface ListProps {
  readonly own: AgentTexts
  readonly language: Language
  readonly tools: readonly ToolEntry[]
  readonly chosen: readonly string[]
  /** Takes names separated by commas. */
  set(names: string): void
}

function ToolList({ own, language, tools, chosen, set }: ListProps) {
  const gone = chosen.filter((name) => !tools.some((tool) => tool.name === name))
  const groups = [
    { title: own.offered, items: tools.filter(({ offered }) => offered) },
    { title: own.byName, items: tools.filter(({ offered }) => !offered) },
  ]
  const toggle = (name: string, isOn: boolean): void =>
    set((isOn ? [...chosen, name] : chosen.filter((other) => other !== name)).join(','))
  return (
    <div class="mt-2 max-h-96 overflow-y-auto rounded-md border border-line">
      {tools.length > 0 &&
        gone.map((name) => <ToolRow key={name} {...{ name, isOn: true, toggle }} does="" reach={own.goneTool} />)}
      {groups.map(({ title, items }) => (
        <fieldset key={title} class="min-w-0">
          <legend class="label w-full border-b border-line bg-sunken px-3 py-1">{title}</legend>
          {items.map((tool) => (
            <ToolRow
              key={tool.name}
              {...{ name: tool.name, isOn: chosen.includes(tool.name), toggle }}
              does={sayTool(tool, language)}
              reach={own.reaches[tool.reach ?? 'depends'] ?? ''}
            />
          ))}
        </fieldset>
      ))}
    </div>
  )
}

/** Contract: plain words; tools of plugins and servers describe themselves, in one sentence. */
function sayTool({ name, description }: ToolEntry, language: Language): string {
  return sayWhatToolDoes(name, language) ?? visibleText(oneLine(description.split(/(?<=[.。])\s/)[0] ?? ''))
}

interface ToolRowProps {
  readonly name: string
  readonly isOn: boolean
  readonly does: string
  readonly reach: string
  toggle(name: string, isOn: boolean): void
}

const ToolRow = ({ name, isOn, does, reach, toggle }: ToolRowProps) => (
  <label class="grid grid-cols-[auto_minmax(0,1fr)] items-baseline gap-x-2.5 px-3 py-1.5 hover:bg-sunken">
    <input
      type="checkbox"
      name={`tool-${name}`}
      checked={isOn}
      onChange={({ currentTarget }) => toggle(name, currentTarget.checked)}
    />
    <span class="min-w-0 wrap-anywhere">
      <span class="font-mono text-[13px]">{visibleText(name)}</span> <span class="text-muted">{does}</span>
      <span class="label block">{reach}</span>
    </span>
  </label>
)
