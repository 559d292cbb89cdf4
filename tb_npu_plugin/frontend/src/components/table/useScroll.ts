/** Scrolling of a long table: which row is at the top edge, and how to get to another. */
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import {
  anchorAt,
  clampAnchor,
  type Geometry,
  isScaled,
  reveal,
  rowWindow,
  scrollFor,
} from '../../lib/window';

export const ROW_HEIGHT = 28;
export const HEAD_HEIGHT = 40;

export function useScroll(total: number) {
  const scroller = useRef<HTMLDivElement>(null);
  const [viewport, setViewport] = useState(0);
  const [anchor, setAnchor] = useState(0);
  /** The scroll position we set ourselves: its event says nothing new, and is rounded. */
  const expected = useRef(-1);
  const geometry: Geometry = { total, rowHeight: ROW_HEIGHT, viewport };
  const live = useRef({ anchor, geometry });
  live.current = { anchor, geometry };

  const goTo = (row: number) => {
    const element = scroller.current;
    if (!element) return;
    const next = clampAnchor(row, live.current.geometry);
    live.current.anchor = next;
    setAnchor(next);
    element.scrollTop = scrollFor(next, live.current.geometry);
    expected.current = element.scrollTop;
  };

  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const measure = () => setViewport(Math.max(0, element.clientHeight - HEAD_HEIGHT));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const onScroll = () => {
      if (Math.abs(element.scrollTop - expected.current) < 1) return;
      expected.current = -1;
      setAnchor(anchorAt(element.scrollTop, live.current.geometry));
    };
    // Where the bar stands for a share of the table, a turn of the wheel still moves by rows.
    const onWheel = (event: WheelEvent) => {
      const { anchor: now, geometry: at } = live.current;
      if (!isScaled(at) || event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
      event.preventDefault();
      goTo(now + (event.deltaMode === 1 ? event.deltaY * 3 : event.deltaY / ROW_HEIGHT));
    };
    element.addEventListener('scroll', onScroll, { passive: true });
    element.addEventListener('wheel', onWheel, { passive: false });
    return () => {
      element.removeEventListener('scroll', onScroll);
      element.removeEventListener('wheel', onWheel);
    };
  }, []);

  const at = clampAnchor(anchor, geometry);
  return {
    scroller,
    anchor: at,
    geometry,
    window: rowWindow(at, geometry),
    goTo,
    reveal: (row: number) => goTo(reveal(row, live.current.anchor, live.current.geometry)),
  };
}
