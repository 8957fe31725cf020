/** Shows workspaces, who wrote in them, and differences of their files. */

import type { CommandOutput } from '../../commands/lib/registry.ts'
import { formatBytes } from '../../domain/byte-size.ts'
import { shortId } from '../../domain/short-id.ts'
import { escapeLookalikes, escapeToOneLine, style } from '../terminal.ts'
import { terminalLanguage } from './language.ts'
import { formatTable } from './table.ts'
import { sayInstant } from './times.ts'

const TEXTS = {
  en: {
    none: 'No agent has worked in a folder yet.',
    deleted: (folder: string, files: number, size: string) => `Deleted ${folder}: ${countFiles(files)}, ${size}.`,
    removedUntil: ({ id, folder, files, size, until }: Removed) =>
      `Removed ${folder}: ${countFiles(files)}, ${size}. ` +
      `Kept until ${until}; bring it back with: tireless undo ${id} --yes`,
    noWrites: 'No run has written files yet.',
    noDifference: (from: string, to: string) => `no difference between ${from} and ${to}`,
    columns: {
      ...{ folder: 'folder', agents: 'agents', sessions: 'sessions', last: 'last write', run: 'by run' },
      ...{ files: 'files', bytes: 'bytes', used: 'in use by' },
    },
    labels: { agents: 'agents', sessions: 'sessions', used: 'in use by', files: 'files', written: 'what runs changed' },
    counted: (files: number, bytes: number) => `${files} (${bytes} bytes)`,
    more: (n: number) => `… ${n} more`,
    entries: { name: 'name', kind: 'kind', bytes: 'bytes', modified: 'changed' },
    emptyFolder: 'The folder is empty.',
    moreFiles: '… more files: name one with --path, or raise --limit',
    repository: (path: string) => `${path} (repository)`,
    binary: (before: number | null, after: number | null) =>
      `no text: ${before ?? 'nothing'} → ${after ?? 'nothing'} bytes`,
  },
  zh: {
    none: '还没有智能体在任何文件夹里工作过。',
    deleted: (folder: string, files: number, size: string) => `已删除 ${folder}：${files} 个文件，${size}。`,
    removedUntil: ({ id, folder, files, size, until }: Removed) =>
      `已移除 ${folder}：${files} 个文件，${size}。保留到 ${until}；用 tireless undo ${id} --yes 恢复`,
    noWrites: '还没有运行写过文件。',
    noDifference: (from: string, to: string) => `${from} 与 ${to} 没有差别`,
    columns: {
      ...{ folder: '文件夹', agents: '智能体', sessions: '会话', last: '最近写入', run: '由运行' },
      ...{ files: '文件', bytes: '字节', used: '正被使用' },
    },
    labels: { agents: '智能体', sessions: '会话', used: '正被使用', files: '文件', written: '各次运行改了什么' },
    counted: (files: number, bytes: number) => `${files}（${bytes} 字节）`,
    more: (n: number) => `… 另有 ${n} 个`,
    entries: { name: '名称', kind: '种类', bytes: '字节', modified: '修改时间' },
    emptyFolder: '文件夹是空的。',
    moreFiles: '… 还有更多文件：用 --path 指定一个，或调大 --limit',
    repository: (path: string) => `${path}（仓库）`,
    binary: (before: number | null, after: number | null) => `非文本：${before ?? '无'} → ${after ?? '无'} 字节`,
  },
} as const

const countFiles = (count: number): string => `${count} ${count === 1 ? 'file' : 'files'}`

const texts = () => TEXTS[terminalLanguage()]

export function renderWorkspaces({ items, removed }: CommandOutput<'workspace list'>): string {
  const { none, columns, removedUntil } = texts()
  const gone = removed.map(({ id, workspace, files, bytes, until }) =>
    removedUntil({ id, folder: escapeToOneLine(workspace), files, size: formatBytes(bytes), until: sayInstant(until) }),
  )
  if (items.length === 0) return [none, ...gone].join('\n')
  const rows = items.map(({ workspace, agents, sessions, in_use_by, last_write, last_run, files, bytes }) => ({
    ...{ [columns.folder]: workspace, [columns.agents]: agents.join(' '), [columns.sessions]: sessions.length },
    [columns.last]: last_write === null ? null : sayInstant(last_write),
    ...{ [columns.run]: last_run && shortId(last_run), [columns.files]: files, [columns.bytes]: bytes },
    [columns.used]: in_use_by && shortId(in_use_by),
  }))
  return [formatTable(rows, Object.values(columns)), ...gone].join('\n')
}

export function renderWorkspaceRemoved(removed: CommandOutput<'workspace remove'>): string {
  const { deleted, removedUntil } = texts()
  const [folder, size] = [escapeToOneLine(removed.workspace), formatBytes(removed.bytes)]
  if (removed.id === null || removed.until === null) return deleted(folder, removed.files, size)
  return removedUntil({ id: removed.id, folder, files: removed.files, size, until: sayInstant(removed.until) })
}

interface Removed {
  readonly id: string
  readonly folder: string
  readonly files: number
  readonly size: string
  readonly until: string
}

type Write = CommandOutput<'workspace log'>['items'][number]

const MAX_PATHS = 20

function renderWrite({ run_id, title, at, added, changed, removed, repositories }: Write): string {
  const { more, repository } = texts()
  const paths = [
    ...added.map((path) => `+ ${path}`),
    ...changed.map((path) => `~ ${path}`),
    ...removed.map((path) => `- ${path}`),
    ...repositories.map((path) => `~ ${repository(path)}`),
  ]
  const lines = paths.slice(0, MAX_PATHS).map((path) => `    ${escapeToOneLine(path)}`)
  const rest = paths.length > MAX_PATHS ? [`    ${more(paths.length - MAX_PATHS)}`] : []
  return [`  ${style('bold', shortId(run_id))}  ${sayInstant(at)}  ${escapeToOneLine(title)}`, ...lines, ...rest].join(
    '\n',
  )
}

export function renderWorkspaceLog({ items }: CommandOutput<'workspace log'>): string {
  return items.length === 0 ? texts().noWrites : items.map(renderWrite).join('\n')
}

export function renderWorkspace(shown: CommandOutput<'workspace show'>): string {
  const { labels, counted, more } = texts()
  const label = (name: string, text: string): string => `  ${style('dim', `${name}:`)} ${escapeToOneLine(text)}`
  const left = shown.files - shown.paths.length
  return [
    style('bold', escapeToOneLine(shown.workspace)),
    label(labels.agents, shown.agents.join(' ')),
    label(labels.sessions, shown.sessions.map(shortId).join(' ')),
    ...(shown.in_use_by === null ? [] : [label(labels.used, shortId(shown.in_use_by))]),
    label(labels.files, counted(shown.files, shown.bytes)),
    ...shown.paths.map(({ path, bytes }) => `    ${escapeToOneLine(path)}  ${style('dim', String(bytes))}`),
    ...(left > 0 ? [`    ${more(left)}`] : []),
    ...(shown.runs.length === 0 ? [] : [style('dim', `  ${labels.written}:`), ...shown.runs.map(renderWrite)]),
  ].join('\n')
}

export function renderWorkspaceFiles({ items, total }: CommandOutput<'workspace files'>): string {
  const { entries, emptyFolder, more } = texts()
  if (total === 0) return emptyFolder
  const rows = items.map(({ name, kind, bytes, modified_at }) => ({
    ...{ [entries.name]: kind === 'folder' ? `${name}/` : name, [entries.kind]: kind },
    ...{ [entries.bytes]: kind === 'file' ? bytes : null, [entries.modified]: sayInstant(modified_at) },
  }))
  const table = formatTable(rows, Object.values(entries))
  return total > items.length ? `${table}\n${more(total - items.length)}` : table
}

export function renderWorkspaceDiff({ files, from, to, more }: CommandOutput<'workspace diff'>): string {
  const { binary, noDifference, noWrites, moreFiles } = texts()
  if (from === null || to === null) return noWrites
  if (files.length === 0) return noDifference(from, to)
  const shown = files.map(({ path, diff, bytes_before, bytes_after }) =>
    diff === '' ? `${path}: ${binary(bytes_before, bytes_after)}` : diff.trimEnd(),
  )
  return escapeLookalikes([...shown, ...(more ? [moreFiles] : [])].join('\n'))
}
