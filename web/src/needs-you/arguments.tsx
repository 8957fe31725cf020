/** The exact arguments of a call: nothing hidden, nothing cut; long values scroll. */

import { visibleText } from '../format.ts'

const VALUE_CLASSES = [
  'max-h-56 min-w-0 overflow-auto rounded-md bg-sunken px-2.5 py-1.5 font-mono text-[13px] whitespace-pre-wrap',
  'wrap-anywhere',
].join(' ')

export function Arguments({ args, label }: { readonly args: unknown; readonly label: string }) {
  const entries =
    typeof args === 'object' && args !== null && !Array.isArray(args) ? Object.entries(args) : ([['', args]] as const)
  return (
    <dl class="grid gap-x-3 gap-y-1.5 sm:grid-cols-[auto_minmax(0,1fr)]" aria-label={label} data-arguments>
      {entries.map(([name, value]) => (
        <div key={name} class="contents">
          <dt class="label pt-1.5 font-mono wrap-anywhere">{visibleText(name)}</dt>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long value is scrolled with the keyboard, too. */}
          <dd class={VALUE_CLASSES} tabIndex={0} dir="ltr">
            {visibleText(typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? ''))}
          </dd>
        </div>
      ))}
    </dl>
  )
}
