/** The files of a workspace: folders to walk through, files to read and download. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import type { WorkspaceFile } from '../api-types.ts'
import { Button, Card, Empty } from '../components.tsx'
import { DownloadLink, FileView, isMarkdown, useFile } from '../file-view.tsx'
import { byteSize, clockTime, count, relativeTime, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { WORK_TEXTS } from '../texts/work.ts'
import { useFetched } from '../use-fetched.ts'
import type { ViewContext } from '../view-context.ts'
import { VirtualList } from '../virtual-list.tsx'
import { useWindowedList } from '../windowed-list.ts'

interface FileBrowserProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly workspace: string
  /** The address of the workspace. */
  readonly base: string
  /** Empty: the workspace itself. */
  readonly folder: string
  readonly file: string | undefined
}

export function FileBrowser(props: FileBrowserProps) {
  const { context, page, workspace, base, folder, file } = props
  const shownFolder = file === undefined ? folder : parentOf(file)
  // One entry is enough to know the workspace, and whether the folder can be opened.
  const state = useFetched(page, JSON.stringify([workspace, shownFolder]), () =>
    readCommand('workspace files', { workspace, path: shownFolder || '.', limit: 1 }),
  )
  if (state.kind === 'failed' && state.code === 'not_found') return <NoFolder context={context} />
  if (state.kind !== 'ready') return <NotFetched language={context.language} state={state} />
  return (
    <div class="flex min-w-0 flex-col gap-3">
      {(file ?? folder) !== '' && (
        <Breadcrumbs base={base} workspace={state.data.name} path={file ?? folder} isFile={file !== undefined} />
      )}
      {file === undefined ? (
        <FolderView key={folder} {...{ context, page, workspace, base, folder }} />
      ) : (
        state.data.session_id !== null && <FileCard {...{ context, base, file }} session={state.data.session_id} />
      )}
    </div>
  )
}

function NoFolder({ context: { language } }: { readonly context: ViewContext }) {
  const own = WORK_TEXTS[language].workspaces
  return (
    <div data-not-fetched data-no-workspace>
      <Card>
        <Empty>
          {own.noFolder}{' '}
          <a class="text-link underline underline-offset-2" href="/work/workspaces">
            {own.back}
          </a>
        </Empty>
      </Card>
    </div>
  )
}

const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))

const folderAddress = (base: string, path: string): string =>
  path === '' ? base : `${base}?${new URLSearchParams({ path })}`

const addressOfFile = (base: string, file: string, more = {}): string =>
  `${base}?${new URLSearchParams({ file, ...more })}`

interface BreadcrumbsProps {
  readonly base: string
  readonly workspace: string
  readonly path: string
  readonly isFile: boolean
}

function Breadcrumbs({ base, workspace, path, isFile }: BreadcrumbsProps) {
  const names = path === '' ? [] : path.split('/')
  const parts = names.map((name, at) => ({ name, path: names.slice(0, at + 1).join('/') }))
  return (
    <nav class="font-mono text-[13px] wrap-anywhere" aria-label={visibleText(path || workspace)}>
      <a class="text-link hover:underline" href={base}>
        {visibleText(workspace)}
      </a>
      {parts.map((part, at) => (
        <span key={part.path}>
          <span class="text-muted"> / </span>
          {at === parts.length - 1 ? (
            <span aria-current="page" class={isFile ? 'font-medium' : ''}>
              {visibleText(part.name)}
            </span>
          ) : (
            <a class="text-link hover:underline" href={folderAddress(base, part.path)}>
              {visibleText(part.name)}
            </a>
          )}
        </span>
      ))}
    </nav>
  )
}

const ROW_HEIGHT = 41

type FolderProps = Omit<FileBrowserProps, 'file'>

function FolderView({ context, page, workspace, base, folder }: FolderProps) {
  const { language } = context
  const own = WORK_TEXTS[language].workspaces
  const list = useWindowedList(page, folder, (offset, limit) =>
    readCommand('workspace files', { workspace, path: folder || '.', offset, limit }),
  )
  const { total } = list
  return (
    <>
      <p class="label flex flex-wrap gap-x-3">
        <span>{total !== undefined && own.entries(count(total, language))}</span>
        {folder !== '' && (
          <a
            class="text-link underline underline-offset-2"
            href={`${base}?${new URLSearchParams({ view: 'history', path: folder })}`}
          >
            {own.folderHistory}
          </a>
        )}
      </p>
      <Card class="overflow-hidden">
        {total === 0 && <Empty>{own.emptyFolder}</Empty>}
        <VirtualList
          count={total ?? 0}
          rowHeight={ROW_HEIGHT}
          label={own.filesTab}
          onRange={list.showRange}
          row={(index) => {
            const entry = list.itemAt(index)
            if (!entry) return <div class="h-[41px] border-b border-line" />
            return (
              <EntryRow {...{ context, base, entry }} path={folder === '' ? entry.name : `${folder}/${entry.name}`} />
            )
          }}
        />
      </Card>
    </>
  )
}

interface EntryRowProps {
  readonly context: ViewContext
  readonly base: string
  readonly entry: WorkspaceFile
  readonly path: string
}

const ENTRY_CLASSES = 'flex items-center gap-3 border-b border-line px-4 py-2.5'

function EntryRow({ context: { language, now }, base, entry, path }: EntryRowProps) {
  const own = WORK_TEXTS[language].workspaces
  const { name, kind, bytes, modified_at } = entry
  const at = Date.parse(modified_at)
  const facts = (
    <>
      <EntryIcon kind={kind} />
      <span class={`min-w-0 truncate font-mono text-[13px] ${name.startsWith('.') ? 'text-muted' : ''}`}>
        {visibleText(name)}
      </span>
      <span class="label figures ml-auto shrink-0">
        {kind === 'file' && byteSize(bytes, language)}
        {kind === 'link' && own.link}
        {kind === 'other' && own.special}
      </span>
      <time
        class="label hidden w-28 shrink-0 text-right sm:block"
        dateTime={modified_at}
        title={clockTime(at, now, language)}
      >
        {relativeTime(at, now, language)}
      </time>
    </>
  )
  if (kind === 'link' || kind === 'other')
    return (
      <div class={ENTRY_CLASSES} data-entry={kind} title={own.notOpened}>
        {facts}
      </div>
    )
  const href = kind === 'folder' ? folderAddress(base, path) : addressOfFile(base, path)
  return (
    <a class={`${ENTRY_CLASSES} hover:bg-sunken`} href={href} data-entry={kind}>
      {facts}
    </a>
  )
}

const ICONS: Readonly<Record<WorkspaceFile['kind'], string>> = {
  folder: 'M2 4.5h4.2l1.6 1.8H14v7H2z',
  file: 'M4 2.5h5l3 3v8H4zM9 2.5v3h3',
  link: 'M6.5 9.5l3-3M7 5l1.2-1.2a2.5 2.5 0 0 1 3.6 3.6L10.5 8.5M9 11l-1.2 1.2a2.5 2.5 0 0 1-3.6-3.6L5.5 7.5',
  other: 'M8 3v6M8 12.5h.01',
}

function EntryIcon({ kind }: { readonly kind: WorkspaceFile['kind'] }) {
  return (
    <svg aria-hidden="true" class="size-4 shrink-0 text-muted" viewBox="0 0 16 16" fill="none">
      <path d={ICONS[kind]} stroke="currentColor" stroke-width="1.3" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  )
}

interface FileCardProps {
  readonly context: ViewContext
  readonly base: string
  readonly session: string
  readonly file: string
}

function FileCard({ context: { texts, language }, base, session, file }: FileCardProps) {
  const own = WORK_TEXTS[language].workspaces
  const [isSource, setSource] = useState(false)
  const opened = { texts, session, path: file, state: useFile(session, file) }
  return (
    <Card class="px-4 py-3">
      <div class="mb-3 flex flex-wrap items-center gap-x-4 gap-y-2">
        {isMarkdown(file) && (
          <Button onClick={() => setSource(!isSource)}>{isSource ? own.rendered : own.source}</Button>
        )}
        <a class="text-link underline underline-offset-2" href={addressOfFile(base, file, { view: 'history' })}>
          {own.fileHistory}
        </a>
        <DownloadLink {...opened} />
      </div>
      <FileView {...opened} isSource={isSource} />
    </Card>
  )
}
