/** What a run or a session changed in its files, file by file. */

import { useState } from 'preact/hooks'
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
  const open = countOpen(files)
  return (
    <div class="flex flex-col gap-3">
      <DiffLayoutSwitch language={language} />
      {files.map((file, at) => (
        <FileChange key={file.path} {...{ language, file }} isFirstOpen={at < open} />
      ))}
      {more && <p class="label">{own.moreChanges(MAX_FILES)}</p>}
    </div>
  )
}

/** Lines of the files that are open from the start; the first one is always. */
const FIRST_LINES = 100

/** Contract: how many of the first files are open from the start. */
function countOpen(files: readonly ChangedFile[]): number {
  let left = FIRST_LINES
  const firstClosed = files.findIndex(({ diff }) => {
    left -= diff.split('\n').length
    return left < 0
  })
  return Math.max(1, firstClosed < 0 ? files.length : firstClosed)
}

const TONES = { added: 'live', changed: 'wait', removed: 'fault' } as const

interface FileChangeProps {
  readonly language: Language
  readonly file: ChangedFile
  readonly isFirstOpen: boolean
}

function FileChange({ language, file, isFirstOpen: wasOpen }: FileChangeProps) {
  const [isOpen, setOpen] = useState(wasOpen)
  const own = WORK_TEXTS[language].workspaces
  const { path, change, diff, bytes_before, bytes_after } = file
  const size = (bytes: number | null): string => (bytes === null ? own.nothing : byteSize(bytes, language))
  return (
    <section class="overflow-hidden rounded-lg border border-line bg-surface" data-changed-file={path}>
      <header class={`flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 ${isOpen ? 'border-b border-line' : ''}`}>
        <Dot tone={TONES[change]} />
        <h3 class="min-w-0 font-mono text-[13px] font-medium">
          <button
            type="button"
            class="flex cursor-pointer items-center gap-2 text-left wrap-anywhere hover:underline"
            aria-expanded={isOpen}
            onClick={() => setOpen(!isOpen)}
          >
            <span class={isOpen ? 'rotate-90' : ''} aria-hidden="true">
              ›
            </span>
            {visibleText(path)}
          </button>
        </h3>
        <span class="label">{own.changes[change]}</span>
        <span class="ml-auto">{diff !== '' && <DiffStat diff={diff} language={language} />}</span>
      </header>
      {!isOpen ? null : diff === '' ? (
        <p class="px-3 py-2 text-muted">{own.noText(size(bytes_before), size(bytes_after))}</p>
      ) : (
        <DiffView diff={diff} language={language} />
      )}
    </section>
  )
}
