/** The place Runs: the list of runs. */

import { Card, Empty } from '../components.tsx'
import type { PlaceProps } from '../shell/place.tsx'

export function Runs({ texts }: PlaceProps) {
  return (
    <Card>
      <Empty>{texts.runs.empty}</Empty>
    </Card>
  )
}
