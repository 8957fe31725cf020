/** What a run or a session changed in its files, file by file. */

import { readCommand } from '../api.ts'
import type { ChangedFile } from '../api-types.ts'
import { Card, Dot, Empty } from '../components.tsx'
import { DiffLayoutSwitch, DiffStat, DiffView } from '../diff-view.tsx'
import { byteSize, type Language, visibleText } from '../format.ts'
import type { PageState } from '../page-state.ts'
import { NotFetched } from '../tabbed-place.tsx'
import { WORK_TEXTS } from '../texts/work.ts'
import { useFetched } from '../use-fetched.ts'

interface ChangesProps {
  readonly page: PageState
  readonly language: Language
  readonly of: { readonly run: string } | { readonly session: string }
  /** Only this file. */
  readonly path?: string | undefined
}

const MAX_FILES = 100

export function Changes({ page, language, of, path }: ChangesProps) {
  const own = WORK_TEXTS[language].workspaces
  const state = useFetched(page, JSON.stringify([of, path]), () =>
    readCommand('workspace diff', { ...of, path, limit: MAX_FILES }),
  )
  if (state.kind !== 'ready') return <NotFetched language={language} state={state} />
  const { files, more } = state.data
  if (files.length === 0)
    return (
      <Card>
        <Empty>{own.noChanges}</Empty>
      </Card>
    )
  return (
    <div class="flex flex-col gap-3">
      <DiffLayoutSwitch language={language} />
      {files.map((file) => (
        <FileChange key={file.path} language={language} file={file} />
      ))}
      {more && <p class="label">{own.moreChanges(MAX_FILES)}</p>}
    </div>
  )
}

const TONES = { added: 'live', changed: 'wait', removed: 'fault' } as const

function FileChange({ language, file }: { readonly language: Language; readonly file: ChangedFile }) {
  const own = WORK_TEXTS[language].workspaces
  const { path, change, diff, bytes_before, bytes_after } = file
  const size = (bytes: number | null): string => (bytes === null ? own.nothing : byteSize(bytes, language))
  return (
    <section class="overflow-hidden rounded-lg border border-line bg-surface" data-changed-file={path}>
      <header class="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-line px-3 py-1.5">
        <Dot tone={TONES[change]} />
        <h3 class="min-w-0 font-mono text-[13px] font-medium wrap-anywhere">{visibleText(path)}</h3>
        <span class="label">{own.changes[change]}</span>
        <span class="ml-auto">{diff !== '' && <DiffStat diff={diff} language={language} />}</span>
      </header>
      {diff === '' ? (
        <p class="px-3 py-2 text-muted">{own.noText(size(bytes_before), size(bytes_after))}</p>
      ) : (
        <DiffView diff={diff} language={language} />
      )}
    </section>
  )
}
