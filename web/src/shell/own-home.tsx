/** Says where a change of files applies, if several processes share the store. */

import { oneLine } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { Texts } from '../texts.ts'

export function OwnHomeNote({ page, texts }: { readonly page: PageState; readonly texts: Texts }) {
  const shared = page.view.status?.workers.filter(({ role }) => role !== null) ?? []
  const own = shared.find(({ here }) => here)
  if (!own || shared.length < 2) return null
  return (
    <p class="mb-4 text-muted" data-own-home>
      {texts.ownHome(oneLine(own.name))}
    </p>
  )
}
