// The drawer of what-if, once its script is here.
import { useEffect, useState } from 'preact/hooks';
import { fetchMore } from '../fetch_more';
import type { ViewContext } from '../view';

export function FetchedWhatIf(props: { context: ViewContext; onEnd: () => void }) {
  const [more, setMore] = useState<Awaited<ReturnType<typeof fetchMore>> | null>(null);
  const [failed, setFailed] = useState(false);
  useEffect(() => {
    void fetchMore()
      .then(setMore)
      .catch(() => setFailed(true));
  }, []);
  if (more) return <more.WhatIfDrawer {...props} />;
  return (
    <aside class="drawer what-if" aria-label="What if">
      {failed ? 'The server does not answer; is fathom view still running?' : '…'}
    </aside>
  );
}
