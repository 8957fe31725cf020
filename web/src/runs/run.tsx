/** One run, by its address `/runs/ID`. */

import { Card, Empty } from '../components.tsx'
import type { PlaceProps } from '../shell/place.tsx'

export function Run({ params }: PlaceProps) {
  return (
    <Card>
      <Empty>{params.id}</Empty>
    </Card>
  )
}
