'use strict';
async function show() {
  const session = await (await fetch('api/session')).json();
  document.getElementById('session').textContent = JSON.stringify(session, null, 2);
  if (session.state === 'reading' || !session.analysed) setTimeout(show, 300);
}
show();
