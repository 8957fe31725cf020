/** What every place of the page gets, and places that are loaded when they are first opened. */

import type { ComponentChild, FunctionComponent } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Button, Card, Empty } from '../components.tsx'
import type { Language } from '../format.ts'
import type { PageState } from '../page-state.ts'
import type { Texts } from '../texts.ts'
import type { Params } from './router.ts'

export interface PlaceProps {
  readonly page: PageState
  readonly texts: Texts
  readonly language: Language
  /** The values of the `:names` in the pattern of the route. */
  readonly params: Params
  readonly query: URLSearchParams
}

export type Place = FunctionComponent<PlaceProps>

/** Contract: a place whose code is fetched when it is first shown, so that the first load stays small. */
export function lazyPlace(load: () => Promise<Place>): Place {
  let loaded: Place | undefined
  return function LazyPlace(props: PlaceProps): ComponentChild {
    const [state, setState] = useState<'loading' | 'ready' | 'failed'>(loaded ? 'ready' : 'loading')
    const { connection } = props.page.view
    // When the server is back, what could not be loaded is asked for again.
    useEffect(() => {
      if (loaded || (state === 'failed' && connection !== 'live')) return
      load().then(
        (place) => {
          loaded = place
          setState('ready')
        },
        () => setState('failed'),
      )
    }, [connection])
    const Loaded = loaded
    if (Loaded) return <Loaded {...props} />
    if (state !== 'failed') return null
    return <LoadFailed texts={props.texts} isLost={connection !== 'live'} />
  }
}

/** After an update of the program, an open page asks for files that no longer exist. */
function LoadFailed({ texts, isLost }: { readonly texts: Texts; readonly isLost: boolean }) {
  if (isLost)
    return (
      <div data-not-loaded>
        <Card>
          <Empty>{texts.noAnswerFromServer}</Empty>
        </Card>
      </div>
    )
  return (
    <Card>
      <Empty>{texts.loadFailed}</Empty>
      <p class="px-4 pb-4">
        <Button busy={false} onClick={() => location.reload()}>
          {texts.reload}
        </Button>
      </p>
    </Card>
  )
}

/** Instead of what could not be read yet. */
export function NotRead({ texts }: { readonly texts: Texts }) {
  return (
    <div data-not-read>
      <Card>
        <Empty>{texts.notRead}</Empty>
      </Card>
    </div>
  )
}
