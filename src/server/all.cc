// Every route. To add one: its declaration, and its line in the table.
#include "server/route.h"

namespace fathom::server {

Route accounting();
Route assets();
Route compare();
Route counters();
Route critical_path();
Route diagnosis();
Route explain();
Route flame();
Route flows();
Route glossary();
Route names();
Route page();
Route report();
Route reports();
Route search();
Route selection();
Route session();
Route slice();
Route tiles();
Route tracks();
Route whatif();

std::span<const Route> all_routes() {
  static const Route table[] = {
      page(),     assets(),  session(), diagnosis(), reports(), report(),        whatif(),
      glossary(), explain(), tracks(),  tiles(),     names(),   selection(),     accounting(),
      counters(), search(),  slice(),   flows(),     flame(),   critical_path(), compare(),
  };
  return table;
}

}  // namespace fathom::server
