/** The settings of an agent, and the texts that say who it is. */

import type { ComponentChildren } from 'preact'
import type { AgentDetails } from '../api-types.ts'
import { Card, Chevron, Section } from '../components.tsx'
import { type Language, visibleText } from '../format.ts'
import { Markdown } from '../markdown.tsx'
import { AGENT_TEXTS, type AgentTexts } from '../texts/agent.ts'

interface SettingsProps {
  readonly language: Language
  readonly agent: AgentDetails
}

export function Settings({ language, agent }: SettingsProps) {
  const own = AGENT_TEXTS[language]
  const { fields } = own
  return (
    <Section title={own.settings}>
      <Card>
        {!agent.prompt_is_role && <LongText title={fields.prompt} text={agent.prompt} isOpen />}
        {agent.role !== null && (
          <LongText title={fields.role} text={agent.role} isOpen={agent.prompt_is_role} isMarkdown />
        )}
        {agent.self !== null && <LongText title={fields.self} text={agent.self} isMarkdown />}
        <dl class="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1.5 px-4 py-3">
          {plainSettings(agent, own).map(([label, value]) => (
            <Row key={label} label={label}>
              {value}
            </Row>
          ))}
        </dl>
      </Card>
    </Section>
  )
}

function plainSettings(agent: AgentDetails, own: AgentTexts): readonly (readonly [string, string])[] {
  const { tools, workspace, priority, timeout, cooldown, description, watch, source, model, uses_model } = agent
  const { fields } = own
  return [
    [fields.tools, tools === null ? own.allTools : visibleText(tools.join(', ')) || own.noText],
    [fields.model, visibleText(model ?? own.defaultModel(uses_model))],
    [fields.workspace, workspace === null ? own.noFolder : visibleText(workspace)],
    [fields.priority, String(priority)],
    [fields.timeout, timeout === 'default' ? own.defaultLimit : timeout === 'none' ? own.noLimit : timeout],
    [fields.cooldown, cooldown === '0s' ? own.noPause : cooldown],
    [fields.description, description === null ? own.notOffered : visibleText(description)],
    ...watch.map(
      (each) => [fields.watch, visibleText(typeof each === 'string' ? each : JSON.stringify(each))] as const,
    ),
    [own.definedIn, visibleText(source)],
  ]
}

function Row({ label, children }: { readonly label: string; readonly children: ComponentChildren }) {
  return (
    <>
      <dt class="label pt-0.5">{label}</dt>
      <dd class="min-w-0 wrap-anywhere">{children}</dd>
    </>
  )
}

interface LongTextProps {
  readonly title: string
  readonly text: string
  readonly isOpen?: boolean
  readonly isMarkdown?: boolean
}

function LongText({ title, text, isOpen = false, isMarkdown = false }: LongTextProps) {
  return (
    <details class="group border-b border-line" open={isOpen}>
      <summary class="flex cursor-pointer list-none items-center gap-2 px-4 py-2.5 font-medium hover:bg-sunken">
        <Chevron />
        {title}
      </summary>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long text is scrolled with the keyboard, too. */}
      <div class="max-h-96 overflow-y-auto px-4 pb-3" tabIndex={0}>
        {isMarkdown ? (
          <Markdown text={text} />
        ) : (
          <p class="font-mono text-[13px] wrap-anywhere whitespace-pre-wrap">{visibleText(text)}</p>
        )}
      </div>
    </details>
  )
}
