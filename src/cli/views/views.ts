/** Formats command output for people: a view for some commands, plain fields for the others. */

import type { CommandName, CommandOutput } from '../../commands/lib/registry.ts'
import { type Label, labelWord } from '../../domain/label.ts'
import { titleOfRun } from '../../domain/title.ts'
import { escapeToOneLine, style } from '../terminal.ts'
import {
  renderAgent,
  renderAgents,
  renderChangedAgent,
  renderDeletedAgent,
  renderNewAgent,
  renderTools,
} from './agents.ts'
import { renderAnswered, renderApproval, renderApprovals } from './approvals.ts'
import { renderBackup, renderRestored } from './backups.ts'
import { renderChannels } from './channels.ts'
import { renderClockAccepted } from './clock.ts'
import { renderCycle, renderRecordedCycle } from './cycles.ts'
import { renderInit } from './init.ts'
import { renderService, renderUpgrade } from './installation.ts'
import { terminalLanguage } from './language.ts'
import { renderAddedModel, renderCycles, renderModels, renderModelTest } from './lists.ts'
import { renderAddedServer, renderApprovedTools, renderServer, renderServers } from './mcp.ts'
import { renderAnsweredNeed, renderNeed, renderNeeds } from './needs.ts'
import {
  renderChanges,
  renderChat,
  renderEnded,
  renderEnqueued,
  renderOpened,
  renderPause,
  renderRemovedSchedule,
  renderResume,
  renderSchedule,
  renderScheduleRun,
  renderSent,
  renderStop,
} from './outcomes.ts'
import { renderNewPlugin, renderPluginApproval, renderPlugins, renderRemovedPlugin } from './plugins.ts'
import { renderObserved } from './residents.ts'
import { renderDispatch, renderQueue, renderRun, renderSession, statusOf } from './runs.ts'
import { renderSchedules, renderSimulation } from './schedules.ts'
import { renderFindings, renderSkill, renderSkillApproval, renderSkills } from './skills.ts'
import { renderSources } from './sources.ts'
import { renderSpending } from './spending.ts'
import { renderAccepted, renderDiff, renderDocument, renderDocuments, renderVersion } from './state.ts'
import { renderStatus } from './status.ts'
import { renderStoreMove } from './store.ts'
import { cellText, formatTable, shortenCell } from './table.ts'
import { renderThread } from './thread.ts'
import { sayIfInstant } from './times.ts'
import { renderTodo, renderTodos } from './todos.ts'
import { renderComparison, renderTrace } from './traces.ts'
import { renderUndo } from './undo.ts'
import {
  renderWorkspace,
  renderWorkspaceDiff,
  renderWorkspaceFiles,
  renderWorkspaceLog,
  renderWorkspaceRemoved,
  renderWorkspaces,
} from './workspaces.ts'

type Fields = Readonly<Record<string, unknown>>

const FACT_COLUMNS = ['agent_id', 'key', 'label', 'session_id', 'turn', 'status', 'created_at', 'text']

const VIEWS: { readonly [Name in CommandName]?: (output: CommandOutput<Name>) => string } = {
  init: renderInit,
  run: renderRun,
  ask: ({ answer }) => answer,
  report: ({ text, zh }) => (terminalLanguage() === 'zh' ? zh : text),
  'reports list': ({ items }) => formatTable(items, ['day', 'runs', 'done', 'failed', 'undone', 'usd']),
  'needs list': renderNeeds,
  'needs show': renderNeed,
  'needs answer': renderAnsweredNeed,
  'queue list': renderQueue,
  'queue show': renderDispatch,
  'sessions list': ({ items }) =>
    formatTable(items, ['session_id', 'agent_id', 'status', 'created_at', 'active_at', 'title']),
  'sessions log': renderThread,
  'sessions show': renderSession,
  'agent list': renderAgents,
  'agent show': renderAgent,
  'agent run': renderRun,
  'agent delete': renderDeletedAgent,
  'tools list': renderTools,
  'agent new': renderNewAgent,
  'agent edit': renderChangedAgent,
  'approvals list': renderApprovals,
  'approvals show': renderApproval,
  'approvals allow': renderAnswered,
  'approvals deny': renderAnswered,
  'mcp list': renderServers,
  'mcp test': renderServer,
  'mcp add': renderAddedServer,
  'mcp approve': renderApprovedTools,
  'cycles list': renderCycles,
  'cycles show': renderRecordedCycle,
  'cycle now': renderCycle,
  once: renderCycle,
  'models list': renderModels,
  'models test': renderModelTest,
  'models add': renderAddedModel,
  'models offered': ({ models, error }) => error ?? models.join('\n'),
  'schedule list': renderSchedules,
  simulate: renderSimulation,
  'budget spend': renderSpending,
  'skills list': renderSkills,
  'skills show': renderSkill,
  'skills scan': renderFindings,
  'skills approve': renderSkillApproval,
  'plugins list': renderPlugins,
  'plugins add': renderPluginApproval,
  'plugins approve': renderPluginApproval,
  'plugins remove': renderRemovedPlugin,
  'plugins new': renderNewPlugin,
  'secrets set': secretSet,
  'secrets remove': ({ name, used_by }) =>
    `Removed ${name}.${used_by.length === 0 ? '' : ` Still referred to by ${used_by.join(', ')}.`}`,
  'secrets list': ({ items }) => formatTable(items.map(joinLists), ['name', 'set_at', 'to', 'used_by']),
  'state show': renderDocument,
  'state log': ({ items }) => formatTable(items, ['version', 'ts', 'author', 'bytes', 'reason']),
  'state diff': renderDiff,
  'state edit': renderVersion,
  'state revert': renderVersion,
  'documents list': renderDocuments,
  'state accept': renderAccepted,
  'memory list': factList,
  'memory search': factList,
  'memory show': renderFact,
  status: renderStatus,
  start: renderEnded,
  open: renderOpened,
  stop: renderStop,
  pause: renderPause,
  resume: renderResume,
  enqueue: renderEnqueued,
  send: renderSent,
  observe: renderObserved,
  chat: renderChat,
  'queue cancel': renderChanges,
  'queue retry': renderChanges,
  'queue pause': renderChanges,
  'queue resume': renderChanges,
  'schedule add': renderSchedule,
  'schedule pause': renderSchedule,
  'schedule resume': renderSchedule,
  'schedule remove': renderRemovedSchedule,
  'schedule run': renderScheduleRun,
  'channels pair': ({ code, expires_at, ...rest }) =>
    code === null
      ? JSON.stringify(rest)
      : `Send this to your chat before ${expires_at}: /pair ${code}\nUntil then its messages are ignored.`,
  'channels list': renderChannels,
  'sources list': renderSources,
  'notices list': ({ items }) => formatTable(items, ['ts', 'kind', 'channel', 'status', 'attempts', 'error', 'text']),
  undo: renderUndo,
  backup: renderBackup,
  restore: renderRestored,
  'clock accept': renderClockAccepted,
  'workspace list': renderWorkspaces,
  'workspace show': renderWorkspace,
  'workspace log': renderWorkspaceLog,
  'workspace diff': renderWorkspaceDiff,
  'workspace remove': renderWorkspaceRemoved,
  'workspace files': renderWorkspaceFiles,
  'todo list': renderTodos,
  'todo show': renderTodo,
  'unknowns list': ({ items }) => formatTable(items, ['id', 'tool', 'reach', 'status', 'started_at']),
  'config check': ({ file, unused, unredacted }) =>
    [
      file ? `${file} is valid` : 'no configuration file, using defaults',
      ...unused.map((key) => `not supported yet: ${key}`),
      ...unredacted.map((key) => `not redacted, because it is short or an ordinary word: ${key}`),
    ].join('\n'),
  'config explain': ({ items }) =>
    items
      .map(({ key, value, source }) => `${key}: ${shortenCell(JSON.stringify(value))}  ${style('dim', source)}`)
      .join('\n') || 'none',
  'config schema': (schema) => JSON.stringify(schema, null, 2),
  doctor: ({ checks, set_aside = [] }) =>
    checks
      .map(({ name, ok, found, remedy }) => {
        const mark = ok ? style('green', 'ok') : style('red', 'FAIL')
        return `${mark}  ${style('bold', name)}: ${found}${remedy === null ? '' : `\n    fix: ${remedy}`}`
      })
      .concat(set_aside.length === 0 ? [] : formatTable(set_aside, ['n', 'at', 'source', 'why', 'body']))
      .join('\n'),
  'trace list': ({ items }) =>
    formatTable(
      items.map((item) => ({
        ...{ ...item, status: statusOf({ ...item, undone_by: item.undone_by ?? null }) },
        task: typeof item.task === 'string' ? titleOfRun(item.task, item.behaviour) : null,
      })),
      ['run_id', 'status', 'stop_reason', 'step_count', 'started_at', 'task'],
    ),
  'trace show': renderTrace,
  'trace export': ({ file, bytes }) => `${file} (${Math.ceil(bytes / 1024)} kB): open it in any browser`,
  compare: renderComparison,
  'service install': renderService,
  'service uninstall': renderService,
  'service status': renderService,
  upgrade: renderUpgrade,
  'store move': renderStoreMove,
  completion: ({ script }) => script.trimEnd(),
  logs: (output) => output?.items.map(logLine).join('\n') || 'none',
}

function factList({ items }: { items: readonly (Fields & Label)[] }): string {
  return formatTable(
    items.map((fact) => ({ ...fact, label: labelWord(fact) })),
    FACT_COLUMNS,
  )
}

function renderFact({ versions, written_by }: CommandOutput<'memory show'>): string {
  const origin = written_by === null ? [] : [`written by run ${written_by.run_id}: ${written_by.task}`]
  return [versions[0]?.text ?? '', ...origin, factList({ items: versions })].join('\n')
}

type Entry = { ts: string; level: string; event: string } & Fields

/** Formats one item of a command that prints its output item by item. */
export function renderItem(name: string, item: unknown): string {
  return `${name === 'logs' ? logLine(item as Entry) : fields(item, '')}\n`
}

function logLine({ ts, level, event, run_id, session_id, step, ...rest }: Entry): string {
  const where =
    run_id === undefined ? '' : ` ${style('dim', `${String(run_id).slice(-8)}${step ? ` step ${step}` : ''}`)}`
  const details = Object.entries(rest).map(
    ([key, value]) => `${style('dim', `${key}=`)}${escapeToOneLine(cellText(value))}`,
  )
  return [`${style('dim', ts)} ${colourLevel(level)} ${escapeToOneLine(event)}${where}`, ...details].join(' ')
}

function colourLevel(level: string): string {
  return level === 'error' ? style('red', level) : level === 'warn' ? style('yellow', level) : level
}

function secretSet({ name, replaced, to, used_by }: CommandOutput<'secrets set'>): string {
  return [
    `${replaced ? 'Replaced' : 'Stored'} ${name}. Refer to it in the configuration as secret:${name}.`,
    to.length === 0 ? 'tools may not send it; allow a host with --to HOST' : `tools may send it to ${to.join(', ')}`,
    ...(used_by.length === 0 ? [] : [`used by ${used_by.join(', ')}`]),
  ].join('\n')
}

/** Replaces each list in the fields by comma-separated text. */
const joinLists = (item: Fields): Fields =>
  Object.fromEntries(
    Object.entries(item).map(([key, value]) => [key, Array.isArray(value) ? value.join(', ') || '-' : value]),
  )

export function render(name: string, output: unknown): string {
  const view = VIEWS[name as CommandName] as ((output: unknown) => string) | undefined
  return `${view ? view(output) : isEmptyList(output) ? 'none' : fields(output, '')}\n`
}

const isEmptyList = (output: unknown): boolean =>
  typeof output === 'object' && output !== null && 'items' in output && isPlain(output.items)

function fields(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null) return `${indent}${String(value)}`
  const entries = Array.isArray(value) ? value.map((item, i) => [String(i), item] as const) : Object.entries(value)
  return entries
    .map(([key, item]) =>
      isPlain(item)
        ? `${indent}${label(key)} ${sayIfInstant(cellText(item))}`
        : `${indent}${label(key)}\n${fields(item, `${indent}  `)}`,
    )
    .join('\n')
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}

const label = (key: string): string => style('dim', `${key}:`)
