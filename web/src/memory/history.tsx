/** The versions of a document, newest first: who, why, when; what changed; and the way back. */

import { useState } from 'preact/hooks'
import { readCommand } from '../api.ts'
import { Button, Card, Empty, Section } from '../components.tsx'
import { clockTime, count, relativeTime } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { MemoryTexts } from '../texts/memory.ts'
import type { ViewContext } from '../view-context.ts'
import { VirtualList } from '../virtual-list.tsx'
import { useWindowedList } from '../windowed-list.ts'
import { VersionPanel } from './version-panel.tsx'
import { type DocumentName, type DocumentVersion, sayAuthor, sayReason } from './versions.ts'

interface HistoryProps {
  readonly context: ViewContext
  readonly page: PageState
  readonly own: MemoryTexts
  readonly name: DocumentName
  /** The version in use. */
  readonly latest: number
}

export function History({ context, page, own, name, latest }: HistoryProps) {
  const [hasSystem, setSystem] = useState(false)
  const [open, setOpen] = useState<number>()
  const versions = useWindowedList(page, `${name} ${hasSystem}`, (offset, limit) =>
    readCommand('state log', { document: name, offset, limit, own: !hasSystem }),
  )
  const { total = 0 } = versions
  return (
    <Section title={own.history} note={total > 0 ? own.versionCount(count(total, context.language)) : ''}>
      <label class="label mb-2 flex w-fit cursor-pointer items-center gap-2 px-1">
        <input type="checkbox" checked={hasSystem} onChange={() => setSystem(!hasSystem)} />
        {own.systemToo}
      </label>
      <Card>
        {versions.total === 0 && <Empty>{own.noVersions}</Empty>}
        <VirtualList
          {...{ count: total, rowHeight: 56, label: own.history, onRange: versions.showRange }}
          row={(index) => (
            <VersionRow
              {...{ context, page, own, name, latest }}
              version={versions.itemAt(index)}
              isFirst={index === 0}
              isOpen={open !== undefined && open === versions.itemAt(index)?.version}
              onToggle={(version) => setOpen(open === version ? undefined : version)}
            />
          )}
        />
      </Card>
    </Section>
  )
}

interface VersionRowProps extends HistoryProps {
  /** Undefined while it is on the way. */
  readonly version: DocumentVersion | undefined
  readonly isFirst: boolean
  readonly isOpen: boolean
  onToggle(version: number): void
}

function VersionRow({ version: shown, isFirst, isOpen, onToggle, ...props }: VersionRowProps) {
  if (!shown) return <div class="h-14" />
  const { context, own, latest } = props
  const { version, author, reason, ts } = shown
  const at = Date.parse(ts)
  return (
    <div class={`px-4 py-2.5 sm:px-5 ${isFirst ? '' : 'border-t border-line'}`} data-version={version}>
      <div class="flex items-center justify-between gap-3">
        <div class="min-w-0">
          <p class="wrap-anywhere">
            <span class="figures font-medium">{own.version(version)}</span>{' '}
            <span class="text-muted">{own.by(sayAuthor(own, author))}</span>{' '}
            {version === latest && <span class="label">({own.latest})</span>}
          </p>
          <p class="label wrap-anywhere">
            {sayReason(own, reason)} ·{' '}
            <time dateTime={ts} title={clockTime(at, context.now, context.language)}>
              {relativeTime(at, context.now, context.language)}
            </time>
          </p>
        </div>
        <span class="shrink-0 whitespace-nowrap">
          <Button onClick={() => onToggle(version)}>{isOpen ? own.hide : own.show}</Button>
        </span>
      </div>
      {isOpen && <VersionPanel {...props} version={shown} />}
    </div>
  )
}
